// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages as blocks of bytes, like the pixels of yarp::sig::Image: what ports write to a connection and read from it.
#include <yarp/os/ConnectionReader.h>
#include <yarp/os/ConnectionWriter.h>
#include <yarp/os/Portable.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace icepath::plugin_kit {

// Written from the caller's memory.
class Outgoing : public yarp::os::PortWriter {
public:
	Outgoing(const void *data, uint64_t bytes) : data_(static_cast<const char *>(data)), bytes_(bytes) {}
	bool write(yarp::os::ConnectionWriter &to) const override
	{
		to.appendExternalBlock(data_, bytes_);
		return true;
	}

private:
	const char *data_;
	uint64_t bytes_;
};

// Read by a library thread into the caller's memory.
class Incoming : public yarp::os::PortReader {
public:
	Incoming(void *data, uint64_t capacity) : data_(static_cast<char *>(data)), capacity_(capacity) {}
	bool read(yarp::os::ConnectionReader &from) override
	{
		bytes = from.isValid() ? std::min<uint64_t>(from.getSize(), capacity_) : 0; // invalid: the port was interrupted
		has_come = bytes > 0 && from.expectBlock(data_, bytes);
		return has_come;
	}
	uint64_t bytes = 0;
	bool has_come = false;

private:
	char *data_;
	uint64_t capacity_;
};

// With its own memory, for a port that buffers.
struct Slot : yarp::os::Portable {
	std::vector<char> bytes;

	bool write(yarp::os::ConnectionWriter &to) const override
	{
		to.appendExternalBlock(bytes.data(), bytes.size());
		return true;
	}
	bool read(yarp::os::ConnectionReader &from) override
	{
		bytes.resize(from.getSize());
		return !bytes.empty() && from.expectBlock(bytes.data(), bytes.size());
	}
};

} // namespace icepath::plugin_kit
