// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a receiver gets its subscription's messages: in spin_once() of an executor, from an executor that spins in its
// own threads, or after a wait set; or how its handler gets them, from the callback.
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "middleware_adapters/ros2/node.h"
#include "middleware_adapters/ros2/wait.h"
#include "plugin_kit/library.h"
#include "plugin_kit/ring_wait.h"
#include "plugin_kit/send_window.h"

namespace icepath::plugin_kit {

using Message = std_msgs::msg::UInt8MultiArray;

class Taking {
public:
	virtual ~Taking() = default;
	// The subscription's callback.
	virtual void call_back(const Message::ConstSharedPtr &) {}
	virtual void begin(const rclcpp::Node::SharedPtr &node, const rclcpp::SubscriptionBase::SharedPtr &from) = 0;
	// Waits for a message, and leaves it in `taken`.
	virtual int take(plugin_kit::WindowedEnd &end, icepath_recv &message) = 0;
	// Called by another thread once the end is cancelled: makes take() return.
	virtual void cancel() = 0;

	Message::ConstSharedPtr taken;
};

template <class Executor, class... Settings>
std::unique_ptr<rclcpp::Executor> make_executor(rclcpp::Node &node, Settings... settings)
{
	rclcpp::ExecutorOptions options;
	options.context = context_of(node);
	return std::make_unique<Executor>(options, settings...);
}

class BySpinning : public Taking {
public:
	explicit BySpinning(std::unique_ptr<rclcpp::Executor> executor) : executor_(std::move(executor)) {}
	void call_back(const Message::ConstSharedPtr &message) override
	{
		came_ns_ = icepath_now_ns();
		taken = message;
	}
	void begin(const rclcpp::Node::SharedPtr &node, const rclcpp::SubscriptionBase::SharedPtr &) override
	{
		executor_->add_node(node);
	}
	int take(plugin_kit::WindowedEnd &end, icepath_recv &message) override
	{
		came_ns_ = 0;
		message.take_call_ns = icepath_now_ns();
		while (came_ns_ == 0) {
			if (end.is_over())
				return end.end_of_call();
			message.attempts++;
			executor_->spin_once();
		}
		message.take_return_ns = came_ns_;
		return ICEPATH_OK;
	}
	void cancel() override { executor_->cancel(); }

private:
	const std::unique_ptr<rclcpp::Executor> executor_;
	uint64_t came_ns_ = 0; // when the callback got it; 0: not yet
};

// An executor that spins in a thread of its own, as it does in the main thread of a program with a node.
class Spin {
public:
	Spin(std::unique_ptr<rclcpp::Executor> executor, plugin_kit::WindowedEnd &end)
		: executor_(std::move(executor)), end_(end)
	{}
	~Spin()
	{
		if (!thread_.joinable())
			return;
		executor_->cancel();
		thread_.join();
	}
	// `fail(status)`: called in that thread if spin() throws. That of a MultiThreadedExecutor has threads of its own,
	// whose exceptions end the process.
	template <class Fail> void begin(const rclcpp::Node::SharedPtr &node, const char *thread_name, Fail fail)
	{
		executor_->add_node(node);
		const ThreadsNamed named(thread_name);
		thread_ = std::thread([this, fail] {
			const int status = guarded(end_, "spin()", [this] {
				executor_->spin();
				return int{ICEPATH_OK};
			});
			has_ended_ = true;
			if (status != ICEPATH_OK)
				fail(status);
		});
		while (!executor_->is_spinning() && !has_ended_) // or its cancel() could come too early
			usleep(100);
	}

private:
	const std::unique_ptr<rclcpp::Executor> executor_;
	plugin_kit::WindowedEnd &end_;
	std::atomic<bool> has_ended_{false};
	std::thread thread_;
};

// The receiver is woken by the callback, and takes what that has put into a queue.
class FromThreads : public Taking {
public:
	FromThreads(std::unique_ptr<rclcpp::Executor> executor, plugin_kit::WindowedEnd &end)
		: spin_(std::move(executor), end)
	{}
	void call_back(const Message::ConstSharedPtr &message) override
	{
		{
			const std::lock_guard lock(mutex_);
			arrivals_.push_back(message);
		}
		bell_.ring();
	}
	void begin(const rclcpp::Node::SharedPtr &node, const rclcpp::SubscriptionBase::SharedPtr &) override
	{
		spin_.begin(node, "executor", [this](int status) {
			failed_ = status;
			bell_.ring();
		});
	}
	int take(plugin_kit::WindowedEnd &end, icepath_recv &message) override
	{
		for (;;) {
			if (end.is_over())
				return end.end_of_call();
			if (const int status = failed_; status != ICEPATH_OK)
				return status;
			message.attempts++;
			message.take_call_ns = icepath_now_ns();
			const bool is_message = take_next();
			message.take_return_ns = icepath_now_ns();
			if (is_message)
				return ICEPATH_OK;
			if (const uint64_t back_ns = bell_.sleep())
				message.wait_return_ns = back_ns;
		}
	}
	void cancel() override { bell_.ring(); } // the executor's threads may go on

private:
	bool take_next()
	{
		const std::lock_guard lock(mutex_);
		if (arrivals_.empty())
			return false;
		taken = std::move(arrivals_.front());
		arrivals_.pop_front();
		return true;
	}

	DataBell bell_;
	std::mutex mutex_;
	std::deque<Message::ConstSharedPtr> arrivals_; // with `mutex_` held
	std::atomic<int> failed_{ICEPATH_OK};
	Spin spin_; // ends first
};

// The side handles each message in the callback.
class ByCallback : public Taking {
public:
	ByCallback(std::unique_ptr<rclcpp::Executor> executor, plugin_kit::WindowedEnd &end, const Handler &handler)
		: handler_(handler), spin_(std::move(executor), end)
	{}
	void call_back(const Message::ConstSharedPtr &message) override
	{
		const uint64_t called_ns = icepath_now_ns();
		handler_.take(called_ns, const_cast<uint8_t *>(message->data.data()), message->data.size());
	}
	void begin(const rclcpp::Node::SharedPtr &node, const rclcpp::SubscriptionBase::SharedPtr &) override
	{
		spin_.begin(node, "spin", [this](int status) {
			failed_ = status;
			handler_.end(status);
		});
	}
	int take(plugin_kit::WindowedEnd &end, icepath_recv &) override
	{
		const int status = failed_;
		return status != ICEPATH_OK ? status : end.end_of_call();
	}
	void cancel() override {} // the executor's threads may go on

private:
	const Handler &handler_;
	std::atomic<int> failed_{ICEPATH_OK}; // no block may run as spin() throws
	Spin spin_; // ends first
};

class ByWaitSet : public Taking {
public:
	void begin(const rclcpp::Node::SharedPtr &node, const rclcpp::SubscriptionBase::SharedPtr &from) override
	{
		from_ = from;
		wait_ = std::make_unique<SubscriptionWait>(*node, from);
	}
	int take(plugin_kit::WindowedEnd &end, icepath_recv &message) override
	{
		for (;;) {
			if (end.is_over())
				return end.end_of_call();
			rclcpp::MessageInfo info;
			message.attempts++;
			message.take_call_ns = icepath_now_ns();
			const bool is_message = from_->take_type_erased(incoming_.get(), info);
			message.take_return_ns = icepath_now_ns();
			if (is_message) {
				taken = incoming_;
				return ICEPATH_OK;
			}
			wait_->sleep();
			message.wait_return_ns = icepath_now_ns();
		}
	}
	void cancel() override
	{
		if (wait_)
			wait_->end();
	}

private:
	rclcpp::SubscriptionBase::SharedPtr from_;
	std::unique_ptr<SubscriptionWait> wait_;
	const std::shared_ptr<Message> incoming_ = std::make_shared<Message>();
};

} // namespace icepath::plugin_kit
