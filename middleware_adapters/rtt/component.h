// SPDX-License-Identifier: Apache-2.0
#pragma once
// A component of RTT with an output and an input port, and without a thread of RTT's. RTT's headers are none of C++20 (a function there is
// called `requires`), so that what includes them is compiled apart. Each function may throw a std::exception.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace icepath::plugin_kit {

enum class Direction { Out, In };
enum class Written { Yes, Full, NotConnected };

// Of a connection, and of an end of a stream.
struct Buffering {
	int messages;
	size_t bytes; // of a message
};

class Component {
public:
	// `on_data`: called by whoever writes to the input port, which is an event port then; empty: it is none.
	Component(const std::string &name, const Buffering &buffering, std::function<void()> on_data);
	~Component(); // throws nothing
	Component(const Component &) = delete;
	Component &operator=(const Component &) = delete;

	// From the output port to another component's input port, in this process.
	bool connect_to(Component &peer);
	// A port's end of a stream by the queue of that name. The output's is to be made first: it puts an example of a message into the
	// queue, for which the input's waits.
	bool make_stream(Direction direction, const std::string &queue);

	Written write(); // `outgoing`
	bool read(); // into `incoming`; false: there is nothing new
	void execute(); // the engine, which has the event ports with new data; by the thread that reads

	std::vector<char> outgoing, incoming;

private:
	struct Task;
	const Buffering buffering_;
	std::unique_ptr<Task> task_;
};

// "2.9.0"
std::string rtt_version();

} // namespace icepath::plugin_kit
