// SPDX-License-Identifier: Apache-2.0
// Which ends are one connection, where addresses and ports come again.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "profiler/attach/connections.h"

namespace icepath::attach {
namespace {

using model::Connection;
using model::EndRole;

constexpr uint64_t kPair = 7, kOwnPort = 70, kServersPort = 80;

icepath_end tcp(uint64_t object, bool of_server)
{
	icepath_end end{};
	end.object = object;
	end.pair = kPair;
	end.place = of_server ? kServersPort : kOwnPort;
	end.side = of_server;
	end.tgid = static_cast<uint32_t>(object);
	end.kind = ICEPATH_OBJECT_TCP;
	return end;
}
icepath_end client(uint64_t object) { return tcp(object, false); }
icepath_end server(uint64_t object) { return tcp(object, true); }
icepath_end listener()
{
	icepath_end end = tcp(1, true);
	end.role = ICEPATH_END_LISTENS;
	return end;
}

using Objects = std::vector<std::pair<uint64_t, uint64_t>>;

Objects objects_of(const std::vector<Connection> &connections)
{
	Objects objects;
	for (const Connection &one : connections)
		objects.emplace_back(one.ends[0].object, one.ends[1].object);
	std::ranges::sort(objects);
	return objects;
}

class Pairs : public testing::Test {
protected:
	void list(const std::vector<icepath_end> &ends) { connections.add(ends); }
	Connections connections{4};
};

TEST_F(Pairs, AreOneConnectionThatGoesOn)
{
	list({listener(), client(10), server(20)});
	list({client(10), server(20)});
	EXPECT_EQ(objects_of(connections.open()), (Objects{{10, 20}}));
	const Connection one = connections.all().at(0);
	EXPECT_EQ(one.ends[0].role, EndRole::Connected);
	EXPECT_EQ(one.ends[1].role, EndRole::Accepted);
	list({});
	EXPECT_TRUE(connections.open().empty());
	EXPECT_EQ(objects_of(connections.all()), (Objects{{10, 20}}));
}

TEST_F(Pairs, WhosePortsComeAgainAreAnotherConnection)
{
	list({listener(), client(10), server(20)});
	list({listener(), client(11), server(21)});
	EXPECT_EQ(objects_of(connections.open()), (Objects{{11, 21}}));
	EXPECT_EQ(objects_of(connections.all()), (Objects{{10, 20}, {11, 21}}));
}

// Of each connection one end was listed.
TEST_F(Pairs, AreNoneAcrossLists)
{
	list({client(10)});
	list({listener(), server(21)});
	EXPECT_EQ(objects_of(connections.all()), (Objects{{10, 0}, {21, 0}}));
}

TEST_F(Pairs, AreNoneOfTheSameSide)
{
	list({client(10), client(11)});
	EXPECT_EQ(objects_of(connections.all()), (Objects{{10, 0}, {11, 0}}));
}

// In network namespaces that have the same addresses.
TEST_F(Pairs, AreNoneIfThereAreMore)
{
	list({listener(), client(10), server(20), client(11), server(21)});
	EXPECT_EQ(objects_of(connections.all()), (Objects{{10, 0}, {11, 0}, {20, 0}, {21, 0}}));
	for (const Connection &one : connections.all())
		EXPECT_EQ(one.ends[0].role, one.ends[0].object < 20 ? EndRole::Connected : EndRole::Accepted);
}

TEST_F(Pairs, OfWhichTooManyAreOverLeaveTheLatest)
{
	for (uint64_t i = 0; i < 100; i++)
		list({listener(), client(1000 + i), server(2000 + i)});
	EXPECT_EQ(objects_of(connections.all()), (Objects{{1096, 2096}, {1097, 2097}, {1098, 2098}, {1099, 2099}}));
}

TEST_F(Pairs, OfAPipeAreItsWriterAndItsReaderWhicheverListHasThem)
{
	icepath_end end{};
	end.object = end.pair = 5;
	end.kind = ICEPATH_OBJECT_PIPE;
	end.role = ICEPATH_END_WRITES;
	end.tgid = 30;
	list({end});
	end.role = ICEPATH_END_READS;
	end.tgid = 40;
	list({end});
	const std::vector<Connection> open = connections.open();
	ASSERT_EQ(open.size(), 1u);
	EXPECT_EQ(open[0].ends[0].process, 30u);
	EXPECT_EQ(open[0].ends[1].process, 40u);
}

} // namespace
} // namespace icepath::attach
