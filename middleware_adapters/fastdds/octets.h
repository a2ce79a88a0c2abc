// SPDX-License-Identifier: Apache-2.0
#pragma once
// The type that fastddsgen would make of `octet[n]`, but with n known only at run time.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include <fastdds/dds/topic/TopicDataType.hpp>

namespace icepath::plugin_kit {

// A sample is the message itself.
class Octets : public eprosima::fastdds::dds::TopicDataType {
public:
	explicit Octets(uint64_t count) : count_(static_cast<uint32_t>(count))
	{
		setName(("octet" + std::to_string(count)).c_str());
		m_typeSize = (count_ + kEncapsulationBytes + 3) / 4 * 4; // padded
		m_isGetKeyDefined = false;
		auto_fill_type_object(false);
		auto_fill_type_information(false);
	}
	bool serialize(void *data, eprosima::fastrtps::rtps::SerializedPayload_t *payload) override
	{
		if (payload->max_size < m_typeSize)
			return false;
		constexpr uint8_t kLittleEndianCdr[kEncapsulationBytes] = {0, 1, 0, 0};
		payload->encapsulation = CDR_LE;
		payload->length = count_ + kEncapsulationBytes;
		std::memcpy(payload->data, kLittleEndianCdr, kEncapsulationBytes);
		std::memcpy(payload->data + kEncapsulationBytes, data, count_);
		return true;
	}
	bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t *payload, void *data) override
	{
		if (payload->length < count_ + kEncapsulationBytes)
			return false;
		std::memcpy(data, payload->data + kEncapsulationBytes, count_);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *) override
	{
		return [this] { return count_ + kEncapsulationBytes; };
	}
	void *createData() override { return new uint8_t[count_]; }
	void deleteData(void *data) override { delete[] static_cast<uint8_t *>(data); }
	bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }
	bool is_bounded() const override { return true; }
	// Its memory layout is its wire format, so it may be lent.
	bool is_plain() const override { return true; }
	bool construct_sample(void *) const override { return true; }

private:
	static constexpr uint32_t kEncapsulationBytes = 4;
	const uint32_t count_;
};

} // namespace icepath::plugin_kit
