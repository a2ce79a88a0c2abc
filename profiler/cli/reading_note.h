// SPDX-License-Identifier: Apache-2.0
#pragma once
// Says that a command works on a run, once that takes longer than a user expects of a command that prints.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace icepath::cli {

// From construction to destruction.
class ReadingNote {
public:
	// `show`: overwrites the terminal's line. It is called from a thread of the note's: after `patience`, then every
	// second, and with an empty text at the end if there was another; never if no thread can be made.
	explicit ReadingNote(std::function<void(const std::string &)> show,
						 std::chrono::milliseconds patience = std::chrono::seconds(1));
	~ReadingNote();
	ReadingNote(const ReadingNote &) = delete;
	ReadingNote &operator=(const ReadingNote &) = delete;

private:
	void wait_and_show(std::chrono::milliseconds patience);

	const std::function<void(const std::string &)> show_;
	std::mutex mutex_;
	std::condition_variable ends_;
	bool is_over_ = false;
	std::thread thread_;
};

} // namespace icepath::cli
