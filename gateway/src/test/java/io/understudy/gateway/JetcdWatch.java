package io.understudy.gateway;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.common.exception.CompactedException;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** The events of one watch by jetcd. */
final class JetcdWatch implements AutoCloseable {
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final Watch.Watcher watcher;

    JetcdWatch(Watch client, WatchOption option) {
        this(client, "k/", option);
    }

    JetcdWatch(Watch client, String key, WatchOption option) {
        Consumer<Throwable> failed = failure -> events.add(
                failure instanceof CompactedException gone
                        ? "compacted " + gone.getCompactedRevision()
                        : failure.toString());
        watcher = client.watch(
                ByteSequence.from(key, StandardCharsets.UTF_8),
                option,
                Watch.listener(
                        response -> response.getEvents().forEach(event -> events.add(text(event))),
                        failed,
                        () -> events.add("closed")));
    }

    /** In their order; a failure is one too. */
    List<String> events() {
        return events;
    }

    @Override
    public void close() {
        watcher.close();
    }

    private static String text(WatchEvent event) {
        return event.getEventType() + " " + text(event.getKeyValue()) + " before " + text(event.getPrevKV());
    }

    private static String text(KeyValue kv) {
        return kv.getKey() + "=" + kv.getValue() + " c" + kv.getCreateRevision() + " m" + kv.getModRevision() + " v"
                + kv.getVersion();
    }
}
