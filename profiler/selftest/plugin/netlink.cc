// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/plugin/netlink.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace icepath::selftest {
namespace {

// One request, built from its head and attributes.
class Request {
public:
	Request(uint16_t type, uint16_t flags, const void *head, size_t bytes)
	{
		message().nlmsg_len = NLMSG_HDRLEN;
		message().nlmsg_type = type;
		message().nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
		put(head, bytes);
	}

	void add(uint16_t type, const void *data, size_t bytes)
	{
		const size_t at = begin(type);
		put(data, bytes);
		end(at);
	}
	void add(uint16_t type, const char *text) { add(type, text, std::strlen(text) + 1); }

	size_t begin(uint16_t type)
	{
		const size_t at = message().nlmsg_len;
		const rtattr head{0, type};
		put(&head, sizeof(head));
		return at;
	}
	void end(size_t at)
	{
		const auto length = static_cast<unsigned short>(used_ - at);
		std::memcpy(buffer_.data() + at, &length, sizeof(length)); // rtattr::rta_len
	}
	void put(const void *data, size_t bytes)
	{
		used_ = message().nlmsg_len + bytes;
		std::memcpy(buffer_.data() + message().nlmsg_len, data, bytes);
		message().nlmsg_len = static_cast<uint32_t>(NLMSG_ALIGN(used_));
	}

	bool done()
	{
		const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
		if (socket < 0)
			return false;
		struct {
			nlmsghdr head;
			nlmsgerr error;
			std::array<char, 512> rest;
		} answer{};
		int error = EIO;
		if (send(socket, buffer_.data(), message().nlmsg_len, 0) < 0)
			error = errno;
		else if (recv(socket, &answer, sizeof(answer), 0) > 0 && answer.head.nlmsg_type == NLMSG_ERROR)
			error = -answer.error.error;
		close(socket);
		errno = error;
		return error == 0;
	}

private:
	nlmsghdr &message() { return *reinterpret_cast<nlmsghdr *>(buffer_.data()); }
	alignas(nlmsghdr) std::array<uint8_t, 1024> buffer_{};
	size_t used_ = 0; // excludes the last attribute's padding
};

} // namespace

bool make_veth(const char *here, const char *there, int there_fd, uint32_t mtu)
{
	const ifinfomsg none{};
	Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &none, sizeof(none));
	request.add(IFLA_IFNAME, here);
	request.add(IFLA_MTU, &mtu, sizeof(mtu));
	const size_t info = request.begin(IFLA_LINKINFO);
	request.add(IFLA_INFO_KIND, "veth");
	const size_t data = request.begin(IFLA_INFO_DATA), peer = request.begin(VETH_INFO_PEER);
	request.put(&none, sizeof(none));
	request.add(IFLA_IFNAME, there);
	request.add(IFLA_MTU, &mtu, sizeof(mtu));
	request.add(IFLA_NET_NS_FD, &there_fd, sizeof(there_fd));
	request.end(peer);
	request.end(data);
	request.end(info);
	return request.done();
}

bool raise_with_address(const char *name, uint32_t address)
{
	ifaddrmsg of{};
	of.ifa_family = AF_INET;
	of.ifa_prefixlen = 30;
	of.ifa_index = if_nametoindex(name);
	const uint32_t number = htonl(address);
	Request addressed(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &of, sizeof(of));
	addressed.add(IFA_LOCAL, &number, sizeof(number));
	addressed.add(IFA_ADDRESS, &number, sizeof(number));
	ifinfomsg up{};
	up.ifi_index = static_cast<int>(of.ifa_index);
	up.ifi_flags = up.ifi_change = IFF_UP;
	return addressed.done() && Request(RTM_NEWLINK, 0, &up, sizeof(up)).done();
}

bool limit_queue(const char *name, uint32_t bytes_per_s, uint32_t burst)
{
	tcmsg of{};
	of.tcm_ifindex = static_cast<int>(if_nametoindex(name));
	of.tcm_parent = TC_H_ROOT;
	tc_tbf_qopt limits{};
	limits.rate.rate = bytes_per_s;
	limits.rate.linklayer = TC_LINKLAYER_ETHERNET;
	limits.limit = 64 * burst;
	Request request(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &of, sizeof(of));
	request.add(TCA_KIND, "tbf");
	const size_t options = request.begin(TCA_OPTIONS);
	request.add(TCA_TBF_PARMS, &limits, sizeof(limits));
	request.add(TCA_TBF_BURST, &burst, sizeof(burst));
	request.end(options);
	return request.done();
}

} // namespace icepath::selftest
