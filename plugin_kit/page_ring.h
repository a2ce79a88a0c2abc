// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sender's pages, to which a pipe refers instead of copying them. Nothing reports when a reader is done with a page,
// but a pipe of n slots refers to at most the last n pages put in: each takes one slot, and a slot is freed only once
// its bytes have been copied out (anon_pipe_read). So a page is rewritten only after n others have followed it.
#include "plugin_kit/shared_mapping.h"

namespace icepath::plugin_kit {

class PageRing {
public:
	PageRing() = default;
	~PageRing() { close_all({fd_}); }
	PageRing(const PageRing &) = delete;
	PageRing &operator=(const PageRing &) = delete;

	// For messages of `payload_bytes` through `pipe`. They lie in a memfd: shared pages aren't replaced when they are
	// written, whatever refers to them.
	int make(int pipe, uint64_t payload_bytes, Sentence &sentence)
	{
		const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
		const int pipe_bytes = fcntl(pipe, F_GETPIPE_SZ);
		if (pipe_bytes < 0)
			return sentence.tell(ICEPATH_FAILED, "fcntl(F_GETPIPE_SZ) failed: %s", std::strerror(errno));
		const uint64_t slots = static_cast<uint64_t>(pipe_bytes) / page;
		const uint64_t pages = (payload_bytes + page - 1) / page;
		stride_ = pages * page;
		messages_ = (slots + pages - 1) / pages + 1;
		fd_ = make_shared_memory(messages_ * stride_);
		if (fd_ < 0)
			return sentence.tell(ICEPATH_FAILED, "memfd_create failed: %s", std::strerror(errno));
		return map_shared_memory(fd_, messages_ * stride_, memory_, sentence);
	}

	// Where the next message goes; page-aligned.
	uint8_t *next()
	{
		place_ = (place_ + 1) % messages_;
		return first() + place_ * stride_;
	}
	int fd() const { return fd_; }
	off_t offset_of(const void *data) { return static_cast<const uint8_t *>(data) - first(); }

private:
	uint8_t *first() { return static_cast<uint8_t *>(memory_.get_address()); }

	boost::interprocess::mapped_region memory_;
	int fd_ = -1;
	uint64_t stride_ = 0, messages_ = 0, place_ = 0;
};

} // namespace icepath::plugin_kit
