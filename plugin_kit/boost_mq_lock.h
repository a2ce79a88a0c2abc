// SPDX-License-Identifier: Apache-2.0
#pragma once
// The mutex inside a Boost.Interprocess message_queue. It isn't robust: a process killed while it holds the mutex
// leaves it locked forever, and no call of the library, timed or not, returns from a wait that can't lock it again.
// Boost offers no remedy, so this class reaches into its ipcdetail.
#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <boost/interprocess/shared_memory_object.hpp>

namespace icepath::plugin_kit {

class BoostQueueLock {
public:
	// Throws interprocess_exception if no queue has that name.
	explicit BoostQueueLock(const char *queue)
		: memory_(Memory(boost::interprocess::open_only, queue, boost::interprocess::read_write),
				  boost::interprocess::read_write),
		  head_(reinterpret_cast<Head *>(static_cast<char *>(memory_.get_address()) +
										 Layout::ManagedOpenOrCreateUserOffset))
	{}

	// Only once the owner is dead. Any thread of any process may call it: unlocking a pthread mutex of the default type
	// doesn't check the owner (glibc, __pthread_mutex_unlock_usercnt).
	void release() { head_->m_mutex.unlock(); }

private:
	using Memory = boost::interprocess::shared_memory_object;
	using Layout = boost::interprocess::ipcdetail::managed_open_or_create_impl<Memory, 0, true, false>;
	using Head = boost::interprocess::ipcdetail::mq_hdr_t<boost::interprocess::offset_ptr<void>>;
	boost::interprocess::mapped_region memory_;
	Head *head_;
};

} // namespace icepath::plugin_kit
