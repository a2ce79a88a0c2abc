// SPDX-License-Identifier: Apache-2.0
#pragma once
// One message with file descriptors over a SOCK_SEQPACKET socket, for icepath, its root helper and its workers.
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace icepath {

// Owns a file descriptor.
class Fd {
public:
	Fd() = default;
	explicit Fd(int fd) : fd_(fd) {}
	Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Fd &operator=(Fd &&other) noexcept;
	~Fd();
	int get() const { return fd_; }
	explicit operator bool() const { return fd_ >= 0; }
	void reset();
	int release() { return std::exchange(fd_, -1); }

private:
	int fd_ = -1;
};

// pidfd_open(2). Without a descriptor, and with errno, on failure.
Fd pidfd_of(pid_t process);

namespace channel {

inline constexpr size_t kMaxFds = 16;

// Both ends are close-on-exec. Throws Failure(MachineCannot).
std::pair<Fd, Fd> open_pair();

// False: the peer is gone. The caller keeps its descriptors. Never raises SIGPIPE.
bool send(int socket, const void *message, size_t bytes, const std::vector<int> &fds = {});

// From now on, messages that come in show who sent them.
bool ask_for_senders(int socket);

// Receives one message of exactly `bytes`; waits at most `timeout_ms` (-1: forever). False: the peer is gone, time is
// up or the message has another size. Descriptors beyond kMaxFds are dropped. Throws Failure(MachineCannot) if this
// process may open no more files. `sender`: the user who sent it, for whom the kernel vouches (SCM_CREDENTIALS);
// nothing without ask_for_senders().
bool receive(int socket, void *message, size_t bytes, std::vector<Fd> &fds, int timeout_ms = -1,
			 std::optional<uid_t> *sender = nullptr);

// Puts a text into a message's field, cut if it is too long, and ended by 0.
template <size_t N> void put(std::array<char, N> &field, std::string_view text)
{
	field.fill(0);
	text.copy(field.data(), N - 1);
}

} // namespace channel
} // namespace icepath
