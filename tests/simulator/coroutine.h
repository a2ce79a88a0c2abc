// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <coroutine>
#include <exception>
#include <utility>

namespace icepath::simulator {

// A coroutine that runs when awaited, or when started as a program.
class [[nodiscard]] Co {
public:
	struct promise_type {
		std::coroutine_handle<> continuation;
		Co get_return_object() { return Co(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		auto final_suspend() noexcept
		{
			struct Back {
				bool await_ready() noexcept { return false; }
				std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept
				{
					auto next = self.promise().continuation;
					return next ? next : std::noop_coroutine();
				}
				void await_resume() noexcept {}
			};
			return Back{};
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	Co() = default;
	explicit Co(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
	Co(Co &&other) noexcept : handle_(std::exchange(other.handle_, {})) {}
	Co &operator=(Co &&other) noexcept
	{
		std::swap(handle_, other.handle_);
		return *this;
	}
	~Co()
	{
		if (handle_)
			handle_.destroy();
	}
	bool done() const { return !handle_ || handle_.done(); }
	std::coroutine_handle<> handle() const { return handle_; }
	bool await_ready() const { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller)
	{
		handle_.promise().continuation = caller;
		return handle_;
	}
	void await_resume() {}

private:
	std::coroutine_handle<promise_type> handle_;
};

} // namespace icepath::simulator
