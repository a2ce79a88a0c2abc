// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client of MOOSDB that ends with its connection: MOOS's own would reconnect, and miss messages.
#include <MOOS/libMOOS/Comms/MOOSAsyncCommClient.h>
#include <MOOS/libMOOS/Comms/XPCTcpSocket.h>
#include <MOOS/libMOOS/Utils/MOOSUtilityFunctions.h>
#include <sys/socket.h>

#include <mutex>
#include <utility>

namespace icepath::plugin_kit {

class Client : public MOOS::MOOSAsyncCommClient {
public:
	Client()
	{
		SetQuiet(true);
		SetOnConnectCallBack(
			[](void *) {
				keep_quiet();
				return true;
			},
			nullptr);
	}
	// For each of the library's two threads, which would print that a connection has ended.
	static void keep_quiet()
	{
		static thread_local bool is_quiet = false;
		if (!std::exchange(is_quiet, true))
			InhibitMOOSTraceInThisThread();
	}
	// MOOS would wait until its thread has read something, which never happens if MOOSDB hangs.
	~Client() override
	{
		{
			const std::lock_guard lock(mutex_);
			m_bQuit = true;
			if (IsConnected())
				shutdown(m_pSocket->iGetSocketFd(), SHUT_RDWR);
		}
		Close();
	}

protected:
	bool OnCloseConnection() override
	{
		const std::lock_guard lock(mutex_);
		m_bQuit = true;
		return MOOSAsyncCommClient::OnCloseConnection();
	}

private:
	std::mutex mutex_; // held while m_pSocket is closed
};

} // namespace icepath::plugin_kit
