// SPDX-License-Identifier: Apache-2.0
#include "middleware_adapters/rtt/component.h"

#include <rtt/InputPort.hpp>
#include <rtt/Logger.hpp>
#include <rtt/OutputPort.hpp>
#include <rtt/TaskContext.hpp>
#include <rtt/extras/SlaveActivity.hpp>
#include <rtt/os/startstop.h>

#include <mutex>
#include <stdexcept>
#include <utility>

#include "middleware_adapters/rtt/octets.h"

namespace icepath::plugin_kit {
namespace {

// The transport's thread starts with the first stream and ends with the last; two threads mustn't do either at once.
std::mutex connecting;

// Once per process, whose exit ends RTT.
void begin_rtt()
{
	static const bool has_begun = __os_init(0, nullptr) == 0 && add_octets();
	if (!has_begun)
		throw std::runtime_error("RTT doesn't start");
}

// The thread that calls execute() executes its engine, as with a SlaveActivity; but that one doesn't report a trigger.
class ThreadOfAnother : public RTT::extras::SlaveActivity {
public:
	explicit ThreadOfAnother(std::function<void()> on_trigger) : on_trigger_(std::move(on_trigger)) {}
	bool trigger() override
	{
		if (on_trigger_)
			on_trigger_();
		return true;
	}

private:
	const std::function<void()> on_trigger_;
};

} // namespace

struct Component::Task : RTT::TaskContext {
	Task(const std::string &name, std::function<void()> on_data) : TaskContext(name)
	{
		ports()->addPort(outlet);
		if (on_data)
			ports()->addEventPort(inlet);
		else
			ports()->addPort(inlet);
		setActivity(new ThreadOfAnother(std::move(on_data)));
	}
	~Task() override
	{
		stop();
		outlet.disconnect();
		inlet.disconnect();
	}
	RTT::OutputPort<Octets> outlet{"out", false}; // false: doesn't keep the last sample
	RTT::InputPort<Octets> inlet{"in"};
};

Component::Component(const std::string &name, const Buffering &buffering, std::function<void()> on_data)
	: outgoing(buffering.bytes), buffering_(buffering)
{
	const std::lock_guard lock(connecting);
	begin_rtt();
	task_ = std::make_unique<Task>(name, std::move(on_data));
	task_->outlet.setDataSample(outgoing); // buffers are sized for messages like this
	if (!task_->start())
		throw std::runtime_error("RTT's component doesn't start");
}

Component::~Component()
{
	const std::lock_guard lock(connecting);
	task_.reset();
}

bool Component::connect_to(Component &peer)
{
	const std::lock_guard lock(connecting);
	return task_->outlet.createConnection(peer.task_->inlet,
										  RTT::ConnPolicy::buffer(buffering_.messages, RTT::ConnPolicy::LOCK_FREE));
}

bool Component::make_stream(Direction direction, const std::string &queue)
{
	RTT::ConnPolicy policy = RTT::ConnPolicy::buffer(buffering_.messages, RTT::ConnPolicy::LOCK_FREE);
	policy.transport = ORO_MQUEUE_PROTOCOL_ID;
	policy.name_id = queue;
	policy.data_size = static_cast<int>(buffering_.bytes);
	const std::lock_guard lock(connecting);
	return direction == Direction::Out ? task_->outlet.createStream(policy) : task_->inlet.createStream(policy);
}

Written Component::write()
{
	const RTT::WriteStatus status = task_->outlet.write(outgoing);
	return status == RTT::WriteSuccess   ? Written::Yes
		   : status == RTT::NotConnected ? Written::NotConnected
										 : Written::Full;
}

bool Component::read() { return task_->inlet.read(incoming, false) == RTT::NewData; }

void Component::execute() { task_->getActivity()->execute(); }

std::string rtt_version()
{
	return std::to_string(RTT_VERSION_MAJOR) + "." + std::to_string(RTT_VERSION_MINOR) + "." +
		   std::to_string(RTT_VERSION_PATCH);
}

} // namespace icepath::plugin_kit
