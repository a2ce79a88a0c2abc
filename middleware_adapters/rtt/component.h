// SPDX-License-Identifier: Apache-2.0
#pragma once
// An RTT component with an output and an input port, and no RTT thread. RTT's headers aren't C++20 (a function is
// called `requires`), so their users are compiled separately. Each function may throw a std::exception.
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
	// `on_data`: called by the thread that writes to the input port, which is then an event port; empty: it isn't.
	Component(const std::string &name, const Buffering &buffering, std::function<void()> on_data);
	~Component(); // never throws
	Component(const Component &) = delete;
	Component &operator=(const Component &) = delete;

	// From the output port to another component's input port, in this process.
	bool connect_to(Component &peer);
	// A port's end of a stream over the named queue. Make the output first: it puts a sample message into the queue,
	// for which the input waits.
	bool make_stream(Direction direction, const std::string &queue);

	Written write(); // `outgoing`
	bool read(); // into `incoming`; false: nothing new
	void execute(); // runs the engine, which has the event ports with new data; call from the reading thread

	std::vector<char> outgoing, incoming;

private:
	struct Task;
	const Buffering buffering_;
	std::unique_ptr<Task> task_;
};

// "2.9.0"
std::string rtt_version();

} // namespace icepath::plugin_kit
