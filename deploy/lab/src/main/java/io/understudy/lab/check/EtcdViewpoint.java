package io.understudy.lab.check;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Serializable reads of one server, again and again. */
public final class EtcdViewpoint implements Viewpoint {

    private static final ByteString NO_KEY = ByteString.copyFromUtf8("understudy-lab-check/none");
    private static final long PAUSE_MICROS = 500;

    private final String name;
    private final EtcdSettings server;
    private final EtcdClient client;

    /** @param server its endpoints and login */
    public EtcdViewpoint(String name, EtcdSettings server) {
        this.name = name;
        this.server = server;
        this.client = new EtcdClient(server);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void connect(Duration deadline) throws InterruptedException {
        await(NO_KEY, null, deadline);
    }

    @Override
    public void await(ByteString key, @Nullable ByteString value, Duration deadline) throws InterruptedException {
        long end = System.nanoTime() + deadline.toNanos();
        Optional<ByteString> wanted = Optional.ofNullable(value);
        String seen;
        do {
            try {
                Optional<ByteString> found =
                        client.range(key).getKvsList().stream().findFirst().map(KeyValue::getValue);
                if (found.equals(wanted)) {
                    return;
                }
                seen = found.isPresent() ? "its value is '" + found.get().toStringUtf8() + "'" : "key not found";
            } catch (StatusRuntimeException e) {
                seen = "read failed with " + EtcdClient.text(e.getStatus());
            }
            TimeUnit.MICROSECONDS.sleep(PAUSE_MICROS);
        } while (System.nanoTime() < end);
        throw new LabException(name + " (" + server.seeds().get(0) + ") does not show the "
                + (value == null ? "deletion" : "write") + " of key " + key.toStringUtf8() + " within "
                + deadline.toSeconds() + " s: " + seen);
    }

    @Override
    public void close() {
        client.close();
    }
}
