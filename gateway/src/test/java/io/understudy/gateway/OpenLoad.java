package io.understudy.gateway;

import io.etcd.jetcd.api.RangeRequest;
import io.understudy.gateway.server.RawHttp2;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends the same range request at a steady rate, whether or not it is answered, over a few connections. Latency counts
 * from the due time, so a delayed request counts as late.
 */
final class OpenLoad {

    /** Latencies of answered requests, and numbers of refused and unanswered ones. */
    record Outcome(List<Long> sortedNanos, int refused, int unanswered, Duration took) {

        long perSecond() {
            return sortedNanos.size() * 1_000L / took.toMillis();
        }

        double millis(double quantile) {
            return sortedNanos.get((int) Math.min(sortedNanos.size() - 1, quantile * sortedNanos.size())) / 1e6;
        }

        @Override
        public String toString() {
            return String.format(
                    "answered %d/s, p50 %.1f ms, p99 %.1f ms; refused %d, unanswered %d",
                    perSecond(), millis(0.5), millis(0.99), refused, unanswered);
        }
    }

    private static final int CONNECTIONS = 8;
    private static final String RANGE = "/etcdserverpb.KV/Range";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final byte[] LARGE_WINDOW = RawHttp2.bytes(Integer.MAX_VALUE - (1 << 16));

    private OpenLoad() {}

    /** Sends {@code perSecond} requests for {@code lasting}, after a warm-up. */
    static Outcome at(int port, RangeRequest request, int perSecond, Duration warmUp, Duration lasting)
            throws InterruptedException {
        return run(port, request, perSecond, 0, warmUp, lasting);
    }

    /** Keeps a fixed number of requests under way. */
    static Outcome closed(int port, RangeRequest request, int underWay, Duration warmUp, Duration lasting)
            throws InterruptedException {
        return run(port, request, 0, underWay / CONNECTIONS, warmUp, lasting);
    }

    private static Outcome run(
            int port, RangeRequest request, int perSecond, int underWay, Duration warmUp, Duration lasting)
            throws InterruptedException {
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            connections.add(new Connection(
                    port,
                    request,
                    perSecond / (double) CONNECTIONS,
                    underWay,
                    warmUp.plus(lasting).toNanos()));
        }
        for (Connection each : connections) {
            each.start();
        }
        List<Long> nanos = new ArrayList<>();
        int refused = 0;
        int unanswered = 0;
        for (Connection each : connections) {
            each.join();
            nanos.addAll(each.answered(warmUp.toNanos()));
            refused += each.count(Connection.REFUSED);
            unanswered += each.count(Connection.SENT);
        }
        Collections.sort(nanos);
        return new Outcome(nanos, refused, unanswered, lasting);
    }

    private static final class Connection {
        private static final int SENT = 1;
        private static final int ANSWERED = 2;
        private static final int REFUSED = 3;
        private static final int MOST = 1 << 16;

        private final RawHttp2 http;
        private final byte[] message;
        private final double perNano;
        private final int underWay;
        private final long lasting;
        private final AtomicLongArray due = new AtomicLongArray(MOST);
        private final AtomicLongArray took = new AtomicLongArray(MOST);
        private final AtomicIntegerArray state = new AtomicIntegerArray(MOST);
        private final Thread sender = new Thread(this::send, "load-sender");
        private final Thread reader = new Thread(this::read, "load-reader");
        private volatile long began;
        private volatile int sent;
        private final AtomicInteger ended = new AtomicInteger();
        private volatile boolean allSent;

        Connection(int port, RangeRequest request, double perSecond, int underWay, long lasting) {
            this.message = RawHttp2.message(request.toByteArray());
            this.perNano = perSecond / TimeUnit.SECONDS.toNanos(1);
            this.underWay = underWay;
            this.lasting = lasting;
            try {
                this.http = new RawHttp2(port, PATIENCE);
                http.frame(RawHttp2.WINDOW_UPDATE, 0, 0, LARGE_WINDOW);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void start() {
            began = System.nanoTime();
            sender.start();
            reader.start();
        }

        void join() throws InterruptedException {
            sender.join();
            reader.join();
        }

        private void send() {
            try {
                int next = 0;
                while (true) {
                    long now = System.nanoTime() - began;
                    if (now > lasting) {
                        break;
                    }
                    long until = underWay > 0 ? (long) ended.get() + underWay : (long) (now * perNano);
                    boolean more = next < until;
                    while (next < until) {
                        due.set(next, underWay > 0 ? now : (long) (next / perNano));
                        state.set(next, SENT);
                        http.call(2 * next + 1, RANGE, false, List.of());
                        http.frame(RawHttp2.DATA, RawHttp2.END_STREAM, 2 * next + 1, message);
                        next++;
                    }
                    sent = next;
                    if (more) {
                        http.flush();
                    }
                    LockSupport.parkNanos(500_000);
                }
                allSent = true;
                wakeReader();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A ping is answered once all before it are read. */
        private void wakeReader() throws IOException {
            try {
                http.frame(RawHttp2.PING, 0, 0, new byte[8]);
                http.flush();
            } catch (IOException e) {
                // With all answered, the reader has closed the connection already.
                if (ended.get() < sent) {
                    throw e;
                }
            }
        }

        private void read() {
            try {
                while (!allSent || ended.get() < sent) {
                    RawHttp2.Frame frame = http.next();
                    if (frame == null) {
                        return;
                    }
                    if (frame.type() == RawHttp2.HEADERS && (frame.flags() & RawHttp2.END_STREAM) != 0) {
                        int which = frame.stream() / 2;
                        String trailers = new String(frame.payload(), StandardCharsets.ISO_8859_1);
                        took.set(which, System.nanoTime() - began - due.get(which));
                        if (trailers.contains("too many requests")) {
                            state.set(which, REFUSED);
                        } else if (trailers.endsWith("0")) {
                            state.set(which, ANSWERED);
                        } else {
                            throw new AssertionError("neither answered nor refused: " + trailers);
                        }
                        ended.incrementAndGet();
                    }
                }
                http.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        List<Long> answered(long afterNanos) {
            List<Long> nanos = new ArrayList<>();
            for (int i = 0; i < sent; i++) {
                if (state.get(i) == ANSWERED && due.get(i) > afterNanos) {
                    nanos.add(took.get(i));
                }
            }
            return nanos;
        }

        int count(int which) {
            int count = 0;
            for (int i = 0; i < sent; i++) {
                count += state.get(i) == which ? 1 : 0;
            }
            return count;
        }
    }
}
