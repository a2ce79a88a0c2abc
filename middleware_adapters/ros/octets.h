// SPDX-License-Identifier: Apache-2.0
#pragma once
// A message with the wire format of std_msgs/UInt8MultiArray, whose bytes lie in the caller's memory: written from
// there and read to there. The generated type has them in a vector, which would cost one more copy on either side.
#include <ros/message_traits.h>
#include <ros/serialization.h>
#include <std_msgs/UInt8MultiArray.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

namespace icepath::plugin_kit {

struct Octets {
	uint8_t *data = nullptr;
	uint64_t capacity = 0; // of `data`
	uint64_t bytes = 0; // of the message
};

// Octets with their own memory.
struct Slot : Octets {
	explicit Slot(uint64_t size) : memory(new uint8_t[size])
	{
		data = memory.get();
		capacity = bytes = size;
	}
	const std::unique_ptr<uint8_t[]> memory;
};

} // namespace icepath::plugin_kit

namespace ros::message_traits {

using icepath::plugin_kit::Octets;

template <> struct IsMessage<Octets> : TrueType {};

template <template <class> class Trait> struct AsGenerated {
	static const char *value() { return Trait<std_msgs::UInt8MultiArray>::value(); }
	static const char *value(const Octets &) { return value(); }
};
template <> struct MD5Sum<Octets> : AsGenerated<MD5Sum> {};
template <> struct DataType<Octets> : AsGenerated<DataType> {};
template <> struct Definition<Octets> : AsGenerated<Definition> {};

} // namespace ros::message_traits

namespace ros::serialization {

template <> struct Serializer<icepath::plugin_kit::Octets> {
	using Octets = icepath::plugin_kit::Octets;
	static constexpr uint32_t kLengths = 3; // of the layout's dimensions, its offset, of the bytes

	template <class Stream> static void write(Stream &stream, const Octets &it)
	{
		for (const uint32_t length : {uint32_t{0}, uint32_t{0}, static_cast<uint32_t>(it.bytes)})
			stream.next(length);
		std::memcpy(stream.advance(static_cast<uint32_t>(it.bytes)), it.data, it.bytes);
	}
	template <class Stream> static void read(Stream &stream, Octets &it)
	{
		uint32_t lengths[kLengths];
		for (uint32_t &length : lengths)
			stream.next(length);
		it.bytes = lengths[2];
		std::memcpy(it.data, stream.advance(lengths[2]), std::min(it.bytes, it.capacity));
	}
	static uint32_t serializedLength(const Octets &it)
	{
		return kLengths * sizeof(uint32_t) + static_cast<uint32_t>(it.bytes);
	}
};

} // namespace ros::serialization
