// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports' payload: bytes. The mqueue transport knows only numbers and arrays of them, so this defines how it writes
// and reads bytes: unchanged, from where they lie.
#include <rtt/transports/mqueue/MQTemplateProtocolBase.hpp>
#include <rtt/types/TemplateTypeInfo.hpp>
#include <rtt/types/Types.hpp>

#include <utility>
#include <vector>

namespace icepath::plugin_kit {

using Octets = std::vector<char>;

class OctetsByQueue : public RTT::mqueue::MQTemplateProtocolBase<Octets> {
	using Source = RTT::base::DataSourceBase::shared_ptr;

public:
	std::pair<const void *, int> fillBlob(Source source, void *, int capacity, void *) const override
	{
		const Octets *octets = octets_of(source);
		if (!octets || octets->size() > static_cast<size_t>(capacity))
			return {nullptr, 0};
		return {octets->data(), static_cast<int>(octets->size())};
	}
	bool updateFromBlob(const void *blob, int bytes, Source target, void *) const override
	{
		auto *octets = RTT::internal::AssignableDataSource<Octets>::narrow(target.get());
		if (!octets)
			return false;
		const auto *first = static_cast<const char *>(blob);
		octets->set().assign(first, first + bytes);
		return true;
	}
	unsigned getSampleSize(Source sample, void *) const override
	{
		const auto *typed = RTT::internal::DataSource<Octets>::narrow(sample.get());
		return typed ? static_cast<unsigned>(typed->get().size()) : 0;
	}

private:
	static const Octets *octets_of(const Source &source)
	{
		const auto *typed = RTT::internal::DataSource<Octets>::narrow(source.get());
		return typed ? &typed->rvalue() : nullptr;
	}
};

// Once per process.
inline bool add_octets()
{
	RTT::types::TypeInfoRepository &types = *RTT::types::Types();
	return types.addType(new RTT::types::TemplateTypeInfo<Octets>("octets")) &&
		   types.type("octets")->addProtocol(ORO_MQUEUE_PROTOCOL_ID, new OctetsByQueue);
}

} // namespace icepath::plugin_kit
