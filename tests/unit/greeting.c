/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte/host/greeting.c: SipHash by its authors' vectors; genuine greetings and
 * others; none is accepted twice.
 */
#include "rte/host/greeting.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tests/lib/unit.h"

/* The bytes 0 to 15, as the authors' vectors have it. */
static uint64_t key[2];

static void check_siphash(void)
{
	static const struct {
		size_t words;
		uint64_t hash;
	} vectors[] = {{0, 0x726fdb47dd0e0e31}, {1, 0x93f5f5799a932462}, {2, 0x3f2acc7f57c29bdb}};
	uint8_t text[sizeof key];

	for (uint8_t i = 0; i < sizeof text; i++)
		text[i] = i;
	memcpy(key, text, sizeof key);
	for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
		EXPECT(siphash(key, key, vectors[i].words) == vectors[i].hash, "of %zu words", vectors[i].words);
}

static struct sockaddr_storage address(const char *text, uint16_t port)
{
	struct sockaddr_storage out = {0};
	struct sockaddr_in *in = (void *)&out;
	struct sockaddr_in6 *in6 = (void *)&out;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
	} else {
		inet_pton(AF_INET6, text, &in6->sin6_addr);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
	}
	return out;
}

static void check_greetings(void)
{
	const struct sockaddr_storage here = address("10.1.2.3", 4711), mapped = address("::ffff:10.1.2.3", 4711),
				      port = address("10.1.2.3", 4712), host = address("10.1.2.4", 4711), none = {0};
	const uint64_t other_key[2] = {1};
	struct greeting greeting, other;

	EXPECT(greeting_make(&greeting, key, &here), "no greeting");
	EXPECT(greeting_make(&other, key, &here), "no greeting");
	EXPECT(memcmp(&greeting.nonce, &other.nonce, sizeof other.nonce), "one nonce twice");
	EXPECT(!greeting_make(&other, key, &none), "for no address");
	EXPECT(greeting_is_genuine(&greeting, key, &here), "its own");
	EXPECT(greeting_is_genuine(&greeting, key, &mapped), "the same address in IPv6");
	EXPECT(!greeting_is_genuine(&greeting, key, &port), "for another port");
	EXPECT(!greeting_is_genuine(&greeting, key, &host), "for another host");
	EXPECT(!greeting_is_genuine(&greeting, other_key, &here), "with another key");
	for (size_t bit = 0; bit < 8 * sizeof greeting; bit++) {
		other = greeting;
		((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		EXPECT(!greeting_is_genuine(&other, key, &here), "with bit %zu turned", bit);
	}
}

static void check_seen(void)
{
	void *seen = NULL;
	struct greeting greeting = {.magic = "torushm"};

	for (int time = 0; time < 2; time++) {
		for (uint64_t i = 0; i < 5000; i++) { /* 0 too, and many that differ little */
			greeting.tag = i * i;
			EXPECT(greetings_seen_add(&seen, &greeting) == (time == 0), "tag of %lu, time %d", i, time);
		}
	}
	greetings_seen_free(&seen);
	EXPECT(!seen && greetings_seen_add(&seen, &greeting), "after a new start");
	greetings_seen_free(&seen);
}

int main(void)
{
	check_siphash();
	check_greetings();
	check_seen();
	return unit_failures != 0;
}
