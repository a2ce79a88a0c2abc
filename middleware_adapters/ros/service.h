// SPDX-License-Identifier: Apache-2.0
#pragma once
// The service of one end of a channel, and its calls to the other end's.
#include <ros/callback_queue.h>
#include <ros/connection.h>
#include <ros/service_manager.h>
#include <ros/service_server_link.h>
#include <std_msgs/Empty.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

#include "middleware_adapters/ros/node.h"
#include "middleware_adapters/ros/octets.h"

namespace icepath::plugin_kit {

// roscpp 1.15: a call that begins just while its connection is dropped comes after the library has failed all calls,
// and waits forever. Failing them once more is a private member, which an explicit instantiation may name
// ([temp.spec.general]).
void fail_calls(ros::ServiceServerLink &);
template <void (ros::ServiceServerLink::*Clear)()> struct FailCalls {
	friend void fail_calls(ros::ServiceServerLink &link) { (link.*Clear)(); }
};
template struct FailCalls<&ros::ServiceServerLink::clearCalls>;

class Service {
public:
	~Service() { drop_call(); }

	// The thread that calls `queue` reads a request into `into`, calls `take`, then answers.
	template <class Take> void serve(const std::string &name, ros::CallbackQueue &queue, Octets &into, Take take)
	{
		using Spec = ros::ServiceSpec<Octets, std_msgs::Empty>;
		ros::AdvertiseServiceOptions offer;
		offer.service = name;
		offer.datatype = "icepath/Push";
		offer.md5sum = ros::message_traits::md5sum<Octets>();
		offer.req_datatype = ros::message_traits::datatype<Octets>();
		offer.res_datatype = ros::message_traits::datatype<std_msgs::Empty>();
		offer.helper = boost::make_shared<ros::ServiceCallbackHelperT<Spec>>(
			[take](Octets &, std_msgs::Empty &) {
				take();
				return true;
			},
			[&into] { return boost::shared_ptr<Octets>(boost::shared_ptr<void>(), &into); });
		offer.callback_queue = &queue;
		server_ = node().advertiseService(offer);
	}

	// False: no such service.
	bool find(const std::string &name, bool persistent, double longest_s)
	{
		name_ = name;
		is_persistent_ = persistent;
		return ros::service::waitForService(name, ros::Duration(longest_s)) && (!persistent || connect());
	}

	// Like ros::ServiceClient::call(), which hides its connection; cancel() must drop it. False: no answer came.
	bool call(const Octets &message)
	{
		const ros::SerializedMessage request = ros::serialization::serializeMessage(message);
		ros::SerializedMessage answer;
		const ros::ServiceServerLinkPtr link = is_persistent_ ? link_ : connect();
		is_calling_ = true;
		const bool is_answered = link && link->call(request, answer);
		is_calling_ = false;
		if (!is_persistent_) {
			const std::lock_guard lock(mutex_);
			link_.reset();
		}
		return is_answered;
	}

	// Called by another thread: the call under way fails, and so does each later one.
	void cancel()
	{
		is_cancelled_ = true;
		drop_call();
		while (is_calling_) {
			usleep(1000); // a call that has just begun would wait for a lock that failing it holds
			const std::lock_guard lock(mutex_);
			if (link_)
				fail_calls(*link_);
		}
	}

private:
	// NULL: no such service.
	ros::ServiceServerLinkPtr connect()
	{
		const std::string md5sum = ros::message_traits::md5sum<Octets>();
		const auto link =
			ros::ServiceManager::instance()->createServiceServerLink(name_, is_persistent_, md5sum, md5sum, {});
		{
			const std::lock_guard lock(mutex_);
			link_ = link;
		}
		if (is_cancelled_)
			drop_call();
		return link;
	}
	void drop_call()
	{
		const std::lock_guard lock(mutex_);
		if (link_)
			link_->getConnection()->drop(ros::Connection::Destructing);
	}

	ros::ServiceServer server_;
	std::string name_; // of the peer's service
	bool is_persistent_ = false;
	std::atomic<bool> is_cancelled_{false}, is_calling_{false};
	std::mutex mutex_;
	ros::ServiceServerLinkPtr link_; // changes with `mutex_` held
};

} // namespace icepath::plugin_kit
