package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/** Makes sure that a path answers a work as the learner does, before it is measured. */
final class Aim {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final TestBed servers;
    private final ReadBenchSettings settings;

    Aim(TestBed servers, ReadBenchSettings settings) {
        this.servers = servers;
        this.settings = settings;
    }

    /**
     * What to send.
     *
     * @throws NotServedException the path doesn't answer such requests
     * @throws BenchException it fails, or answers something else than the learner
     */
    Shot at(ServerPath path, Work work) {
        servers.prepare(path);
        Object expected = expected(work);
        ByteString request = work.api().request(work.range());
        URI server = servers.url(path);
        try (ServerConnections caller = ServerConnections.open(work.api(), server, servers.access(), 1)) {
            byte[] answer = Waiting.until(
                    PATIENCE,
                    () -> Optional.of(answer(caller, request, path, work))
                            .filter(given -> work.api().content(given).equals(expected)),
                    () -> new BenchException(path + " and the learner return different responses to " + work));
            return new Shot(
                    server,
                    servers.access(),
                    work.api(),
                    request,
                    answer.length,
                    settings.connections(work),
                    work.inFlight());
        }
    }

    /** A learner only serves serializable reads, which no writes make different here. */
    private Object expected(Work work) {
        RangeRequest range = work.range().toBuilder().setSerializable(true).build();
        try (ServerConnections caller =
                ServerConnections.open(work.api(), servers.url(ServerPath.LEARNER), servers.access(), 1)) {
            return work.api().content(answer(caller, work.api().request(range), ServerPath.LEARNER, work));
        }
    }

    private static byte[] answer(ServerConnections caller, ByteString request, ServerPath path, Work work) {
        try {
            return caller.call(request.toByteArray()).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof NotServedException notServed) {
                throw notServed;
            }
            throw new BenchException(path + " failed in benchmark " + work, e);
        }
    }
}
