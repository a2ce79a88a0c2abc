// SPDX-License-Identifier: Apache-2.0
#pragma once
// Topics of fixed size, whose messages an RMW lends: of the smallest of four types that has room for a message.
#include <rclcpp/rclcpp.hpp>

#include <memory>
#include <optional>
#include <string>

#include <icepath_ros2/msg/octets1048576.hpp>
#include <icepath_ros2/msg/octets128.hpp>
#include <icepath_ros2/msg/octets4096.hpp>
#include <icepath_ros2/msg/octets65536.hpp>

namespace icepath::plugin_kit {

// A publisher and a subscription of either type.
class Topics {
public:
	virtual ~Topics() = default;
	virtual void publish_on(rclcpp::Node &node, const std::string &topic, const rclcpp::QoS &qos) = 0;
	virtual void subscribe_to(rclcpp::Node &node, const std::string &topic, const rclcpp::QoS &qos) = 0;
	virtual rclcpp::PublisherBase *publisher() const = 0; // NULL: none
	virtual rclcpp::SubscriptionBase::SharedPtr subscription() const = 0;
	virtual void *lend() = 0; // the same message until it is sent
	virtual void send(uint64_t bytes) = 0;
	virtual const void *octets_in(const void *message, uint64_t &bytes) const = 0;
};

template <class Message> class TopicsOf : public Topics {
	void publish_on(rclcpp::Node &node, const std::string &topic, const rclcpp::QoS &qos) override
	{
		publisher_ = node.create_publisher<Message>(topic, qos);
	}
	void subscribe_to(rclcpp::Node &node, const std::string &topic, const rclcpp::QoS &qos) override
	{
		subscription_ = node.create_subscription<Message>(topic, qos, [](typename Message::ConstSharedPtr) {});
	}
	rclcpp::PublisherBase *publisher() const override { return publisher_.get(); }
	rclcpp::SubscriptionBase::SharedPtr subscription() const override { return subscription_; }
	void *lend() override
	{
		if (!lent_)
			lent_.emplace(publisher_->borrow_loaned_message());
		return lent_->get().octets.data();
	}
	void send(uint64_t bytes) override
	{
		lent_->get().bytes = bytes;
		publisher_->publish(std::move(*lent_));
		lent_.reset();
	}
	const void *octets_in(const void *message, uint64_t &bytes) const override
	{
		const auto *it = static_cast<const Message *>(message);
		bytes = it->bytes;
		return it->octets.data();
	}

	typename rclcpp::Publisher<Message>::SharedPtr publisher_;
	typename rclcpp::Subscription<Message>::SharedPtr subscription_;
	std::optional<rclcpp::LoanedMessage<Message>> lent_;
};

inline std::unique_ptr<Topics> topics_for(uint64_t bytes)
{
	using namespace icepath_ros2::msg;
	if (bytes <= 128)
		return std::make_unique<TopicsOf<Octets128>>();
	if (bytes <= 4096)
		return std::make_unique<TopicsOf<Octets4096>>();
	if (bytes <= 65536)
		return std::make_unique<TopicsOf<Octets65536>>();
	return std::make_unique<TopicsOf<Octets1048576>>();
}

} // namespace icepath::plugin_kit
