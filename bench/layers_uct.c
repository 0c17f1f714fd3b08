/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer below UCP: active messages of 8 bytes over one UCT interface, opened by the public calls. UCP carries the puts to
 * memory of others, which the transport cannot reach by itself, as active messages, too.
 */
#include "layers.h"

#include <stdlib.h>
#include <string.h>
#include <uct/api/uct.h>

enum { MESSAGE = 1, ANSWER = 2, MOST_ENDPOINT_INFO = 512 };

static struct {
	ucs_async_context_t *async;
	uct_worker_h worker;
	uct_md_h md;
	uct_iface_h iface;
	uct_ep_h ep;
	uint64_t sent, answered, received, answers;
} uct;

/* What a PE must know of the other, in symmetric memory. */
struct endpoint_info {
	unsigned char device[MOST_ENDPOINT_INFO], iface[MOST_ENDPOINT_INFO], ep[MOST_ENDPOINT_INFO];
};
static struct endpoint_info peer_info;

static void demand(ucs_status_t status, const char *call)
{
	if (status != UCS_OK)
		group_fail("%s: %s", call, ucs_status_string(status));
}

static ucs_status_t message_came(void *arg, void *data, size_t length, unsigned flags)
{
	(void)arg, (void)length, (void)flags;
	layer_value = *(const uint64_t *)data;
	uct.received++;
	return UCS_OK;
}

static ucs_status_t answer_came(void *arg, void *data, size_t length, unsigned flags)
{
	(void)arg, (void)data, (void)length, (void)flags;
	uct.answers++;
	return UCS_OK;
}

/* Of one machine the loopback device is the one that leaves nothing to chance. */
static const uct_tl_resource_desc_t *choose(const uct_tl_resource_desc_t *list, unsigned count, const char *transport)
{
	const uct_tl_resource_desc_t *found = NULL;

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(list[i].tl_name, transport) && (!found || !strcmp(list[i].dev_name, "lo")))
			found = &list[i];
	return found;
}

static bool open_on(uct_component_h component, const char *md_name, const char *transport)
{
	uct_tl_resource_desc_t *list;
	const uct_tl_resource_desc_t *chosen;
	uct_iface_params_t params = {.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
				     .open_mode = UCT_IFACE_OPEN_MODE_DEVICE};
	uct_iface_config_t *iface_config;
	uct_md_config_t *config;
	unsigned count;

	demand(uct_md_config_read(component, NULL, NULL, &config), "uct_md_config_read");
	if (uct_md_open(component, md_name, config, &uct.md) != UCS_OK)
		uct.md = NULL;
	uct_config_release(config);
	if (!uct.md)
		return false;
	demand(uct_md_query_tl_resources(uct.md, &list, &count), "uct_md_query_tl_resources");
	chosen = choose(list, count, transport);
	if (chosen) {
		params.mode.device.tl_name = chosen->tl_name;
		params.mode.device.dev_name = chosen->dev_name;
		demand(uct_md_iface_config_read(uct.md, chosen->tl_name, NULL, NULL, &iface_config),
		       "uct_md_iface_config_read");
		demand(uct_iface_open(uct.md, uct.worker, &params, iface_config, &uct.iface), "uct_iface_open");
		uct_config_release(iface_config);
	} else {
		uct_md_close(uct.md);
	}
	uct_release_tl_resource_list(list);
	return chosen != NULL;
}

static bool open_component(uct_component_h component, const char *transport)
{
	uct_component_attr_t attributes = {.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT};
	bool opened = false;

	demand(uct_component_query(component, &attributes), "uct_component_query");
	attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
	attributes.md_resources = calloc(attributes.md_resource_count + 1, sizeof *attributes.md_resources);
	demand(uct_component_query(component, &attributes), "uct_component_query");
	for (unsigned i = 0; i < attributes.md_resource_count && !opened; i++)
		opened = open_on(component, attributes.md_resources[i].md_name, transport);
	free(attributes.md_resources);
	return opened;
}

static void open_interface(const char *transport)
{
	uct_component_h *components;
	unsigned count;
	bool opened = false;

	demand(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &uct.async), "ucs_async_context_create");
	demand(uct_worker_create(uct.async, UCS_THREAD_MODE_SINGLE, &uct.worker), "uct_worker_create");
	demand(uct_query_components(&components, &count), "uct_query_components");
	for (unsigned i = 0; i < count && !opened; i++)
		opened = open_component(components[i], transport);
	uct_release_component_list(components);
	if (!opened)
		group_fail("UCX has no transport %s here", transport);
}

/* Both write what the other needs; then a barrier. */
static void connect_both(const uct_iface_attr_t *attributes)
{
	struct endpoint_info mine = {{0}, {0}, {0}};
	uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE, .iface = uct.iface};
	bool to_iface = attributes->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE;

	if (attributes->device_addr_len > MOST_ENDPOINT_INFO || attributes->iface_addr_len > MOST_ENDPOINT_INFO ||
	    attributes->ep_addr_len > MOST_ENDPOINT_INFO)
		group_fail("the UCT addresses are too long");
	demand(uct_iface_get_device_address(uct.iface, (uct_device_addr_t *)mine.device),
	       "uct_iface_get_device_address");
	if (to_iface) {
		demand(uct_iface_get_address(uct.iface, (uct_iface_addr_t *)mine.iface), "uct_iface_get_address");
	} else {
		demand(uct_ep_create(&params, &uct.ep), "uct_ep_create");
		demand(uct_ep_get_address(uct.ep, (uct_ep_addr_t *)mine.ep), "uct_ep_get_address");
	}
	shmem_putmem(&peer_info, &mine, sizeof mine, !group.me);
	shmem_barrier_all();
	if (to_iface) {
		params.field_mask |= UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
		params.dev_addr = (const uct_device_addr_t *)peer_info.device;
		params.iface_addr = (const uct_iface_addr_t *)peer_info.iface;
		demand(uct_ep_create(&params, &uct.ep), "uct_ep_create");
	} else {
		demand(uct_ep_connect_to_ep(uct.ep, (const uct_device_addr_t *)peer_info.device,
					    (const uct_ep_addr_t *)peer_info.ep),
		       "uct_ep_connect_to_ep");
	}
}

void uct_open(const char *transport)
{
	uct_iface_attr_t attributes;

	open_interface(transport);
	demand(uct_iface_query(uct.iface, &attributes), "uct_iface_query");
	if (!(attributes.cap.flags & UCT_IFACE_FLAG_AM_SHORT))
		group_fail("the transport %s has no short active messages", transport);
	demand(uct_iface_set_am_handler(uct.iface, MESSAGE, message_came, NULL, 0), "uct_iface_set_am_handler");
	demand(uct_iface_set_am_handler(uct.iface, ANSWER, answer_came, NULL, 0), "uct_iface_set_am_handler");
	uct_iface_progress_enable(uct.iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
	connect_both(&attributes);
}

static void send_message(uint8_t id, uint64_t value)
{
	ucs_status_t status;

	while ((status = uct_ep_am_short(uct.ep, id, value, NULL, 0)) == UCS_ERR_NO_RESOURCE)
		uct_worker_progress(uct.worker);
	if (status != UCS_OK)
		demand(status, "uct_ep_am_short");
}

void uct_post(uint64_t value)
{
	send_message(MESSAGE, value);
	uct.sent++;
}

void uct_flush(void)
{
	uct.answered++;
	while (uct.answers < uct.answered)
		uct_worker_progress(uct.worker);
}

bool uct_progress(void)
{
	unsigned came = uct_worker_progress(uct.worker);

	if (layer_acknowledges && group.me == 1 && uct.received >= BATCH) {
		uct.received -= BATCH;
		send_message(ANSWER, 0);
	}
	if (!layer_acknowledges)
		uct.received = 0;
	return came > 0;
}
