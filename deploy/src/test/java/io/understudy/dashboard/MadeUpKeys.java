package io.understudy.dashboard;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;

/** A few keys of the made-up cluster. */
final class MadeUpKeys {

    private static final Map<String, String> KEYS = new LinkedHashMap<>();

    static {
        KEYS.put(
                "config/limits.json",
                "{\"rate\":1200,\"burst\":{\"of\":\"api\",\"size\":9007199254740993},\"off\":[\"batch\",\"probe\"]}");
        KEYS.put("config/replicas", "3");
        KEYS.put("jobs/2026-11-22/report", "done");
        KEYS.put("leases/worker-7", "berlin");
        KEYS.put("services/api/10.0.3.7:8443", "up");
        KEYS.put("services/api/10.0.3.8:8443", "up");
        KEYS.put("services/search/10.0.4.2:9200", "draining");
    }

    private MadeUpKeys() {}

    /** Has them listed and read there. */
    static void at(PageServer server) {
        ObjectNode page = JsonNodeFactory.instance.objectNode();
        page.put("revision", 184_223).put("count", 21_408).put("cursor", "next");
        KEYS.forEach((key, value) -> page.withArray("kvs").add(entry(key, value)));
        server.answer("/v1/kv?prefix=&limit=50&consistency=serializable", page.toString());
        KEYS.forEach((key, value) -> server.answer(
                "/v1/kv/" + key.replace("/", "%2f").replace(":", "%3a") + "?consistency=serializable",
                entry(key, value).toString()));
    }

    private static ObjectNode entry(String key, String value) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("key", key)
                .put("key_encoding", "text")
                .put("value", value)
                .put("value_encoding", "text")
                .put("create_revision", 151_007)
                .put("mod_revision", 183_960)
                .put("version", 4);
    }
}
