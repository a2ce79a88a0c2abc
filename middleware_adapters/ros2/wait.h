// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sleep of a receiver that takes messages itself: an rclcpp::WaitSet of its subscription.
#include <rclcpp/wait_set.hpp>

#include <memory>

#include "middleware_adapters/ros2/node.h"

namespace icepath::plugin_kit {

class SubscriptionWait {
public:
	// `node`: the subscription's.
	SubscriptionWait(rclcpp::Node &node, const rclcpp::SubscriptionBase::SharedPtr &subscription)
		: over_(std::make_shared<rclcpp::GuardCondition>(context_of(node))),
		  all_({}, {}, {}, {}, {}, {}, context_of(node))
	{
		rclcpp::SubscriptionWaitSetMask messages_only;
		messages_only.include_events = messages_only.include_intra_process_waitable = false;
		all_.add_subscription(subscription, messages_only);
		all_.add_guard_condition(over_);
	}

	// Sleeps until there is something to take, or end() was called.
	void sleep() { [[maybe_unused]] const auto woken_by = all_.wait(); }
	// Any thread.
	void end() { over_->trigger(); }

private:
	const rclcpp::GuardCondition::SharedPtr over_;
	rclcpp::WaitSet all_;
};

} // namespace icepath::plugin_kit
