package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** A few keys of the made-up cluster. */
final class MadeUpKeys {

    private static final Map<String, String> KEYS = new LinkedHashMap<>();

    static {
        KEYS.put(
                "config/limits.json",
                "{\"rate\":1200,\"burst\":{\"of\":\"api\",\"size\":9007199254740993},\"off\":[\"batch\",\"probe\"]}");
        KEYS.put("config/replicas", "3");
    }

    private MadeUpKeys() {}

    /** Has them listed and read there. */
    static void at(PageServer server) {
        level(server, "", 21_408, Map.of("config/", 12, "jobs/", 9_411, "leases/", 31, "services/", 11_954));
        level(server, "config/", 12, Map.of("config/features/", 10, "config/limits.json", 0, "config/replicas", 0));
        level(server, "services/", 11_954, Map.of("services/api/", 8_002, "services/search/", 3_952));
        KEYS.forEach((key, value) -> server.answer(
                "/v1/kv/" + key.replace("/", "%2f").replace(":", "%3a") + "?consistency=serializable",
                entry(key, value).toString()));
        server.commits(request -> new PageServer.Commits(60_000, "id: 184223\n\n", false));
    }

    /** Opens what a picture is to show. */
    static void open(Browser browser) {
        browser.find(".query button").click();
        for (String branch : new String[] {"services%2f", "config%2f"}) {
            eventually().until(() -> browser.has(".key[data-key='" + branch + "']"));
            browser.find(".key[data-key='" + branch + "']").click();
        }
        eventually().until(() -> browser.all(".key").size() == 9);
        browser.find(".key[data-key='config%2flimits.json']").click();
        eventually().until(() -> browser.has("pre.value"));
    }

    /** @param entries number of keys by branch, 0 for a key */
    private static void level(PageServer server, String prefix, int count, Map<String, Integer> entries) {
        ObjectNode level =
                JsonNodeFactory.instance.objectNode().put("revision", 184_223).put("count", count);
        new TreeMap<>(entries).forEach((key, keys) -> {
            ObjectNode entry =
                    level.withArray("entries").addObject().put("key", key).put("key_encoding", "text");
            if (keys > 0) {
                entry.put("keys", keys);
            }
        });
        server.answer(
                "/v1/tree?prefix=" + prefix.replace("/", "%2f") + "&limit=50&consistency=serializable",
                level.toString());
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
