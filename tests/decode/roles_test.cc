// SPDX-License-Identifier: Apache-2.0
// Which end of a connection serves: by who listened, by a call that accepts, or by the first message.
#include "profiler/decode/requests.h"

#include <gtest/gtest.h>

namespace icepath::decode {
namespace {

constexpr uint64_t kClient = 1, kServer = 2;

CalledMessage message(uint64_t given_to, uint64_t out_of)
{
	CalledMessage one;
	one.given_to = given_to;
	one.out_of = out_of;
	return one;
}

const CalledMessage kRequest = message(kClient, kServer), kAnswer = message(kServer, kClient);

TEST(Roles, AreOfWhoTakesFirstWhereNobodyKnows)
{
	Objects objects;
	Roles roles(objects);
	EXPECT_FALSE(roles.serves(kServer) || roles.serves(kClient));
	roles.learn(kRequest);
	roles.learn(kAnswer); // later
	EXPECT_TRUE(roles.serves(kServer));
	EXPECT_FALSE(roles.serves(kClient));
}

// Listed before the server had accepted: its end had no descriptor yet.
TEST(Roles, OfOneEndTellThoseOfTheOther)
{
	for (const auto role : {model::EndRole::Connected, model::EndRole::Accepted})
		for (const CalledMessage &first : {kRequest, kAnswer}) {
			model::Connection connection;
			connection.ends[0].object = role == model::EndRole::Connected ? kClient : kServer;
			connection.ends[0].role = role;
			Objects objects;
			Roles roles(objects);
			roles.know(connection);
			roles.learn(first);
			EXPECT_TRUE(roles.serves(kServer));
			EXPECT_FALSE(roles.serves(kClient));
		}
}

TEST(Roles, OfACallThatAcceptsHold)
{
	Objects objects;
	Roles roles(objects);
	roles.accepted(kServer, kClient);
	roles.learn(kAnswer);
	EXPECT_TRUE(roles.serves(kServer));
	EXPECT_FALSE(roles.serves(kClient));
}

} // namespace
} // namespace icepath::decode
