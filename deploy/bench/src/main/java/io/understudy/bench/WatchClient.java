package io.understudy.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.understudy.bench.CountedWatchStream.Deliveries;
import io.understudy.bench.CountedWatchStream.WatchEventCounter;
import io.understudy.bench.ServerConnections.NotServedException;
import io.understudy.bench.WatchConnection.Opening;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Watchers at one server. All of them share one event loop, which counts what each gets and keeps the times of some: so
 * the load takes as little as can be of the machine that it shares with the servers.
 */
final class WatchClient implements AutoCloseable {

    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(1);
    private static final int READ_BYTES = 256 * 1024;

    /** About so many watchers have the times of their events kept: by chance, so that no place in an order is favoured. */
    private static final int SAMPLED_WATCHERS = 100;

    private final Watchers watchers;
    private final Deliveries deliveries = new Deliveries();
    private final WatchEventCounter message = new WatchEventCounter(Unpooled.EMPTY_BUFFER);
    private final Random chance = new Random(DataSet.SEED);
    private final List<CountedWatchStream> streams = new ArrayList<>();
    private final List<Channel> channels = new ArrayList<>();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private final MultiThreadIoEventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    private WatchClient(Watchers watchers) {
        this.watchers = watchers;
    }

    /**
     * Creates all watchers and returns when they are there.
     *
     * @throws NotServedException the server doesn't have watches
     * @throws BenchException one was refused, or not created in time
     */
    static WatchClient open(URI server, Access access, Watchers watchers) {
        WatchClient client = new WatchClient(watchers);
        try {
            client.connect(server, access);
            return client;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private void connect(URI server, Access access) {
        List<WatchConnection> connections = IntStream.range(0, watchers.connections())
                .mapToObj(index -> new WatchConnection(access, openings(index), deliveries, failure))
                .toList();
        for (WatchConnection connection : connections) {
            channels.add(new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .option(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_BYTES))
                    .handler(connection)
                    .connect(server.getHost(), server.getPort())
                    .syncUninterruptibly()
                    .channel());
        }
        try {
            CompletableFuture.allOf(
                            connections.stream().map(WatchConnection::created).toArray(CompletableFuture[]::new))
                    .get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw understood(e.getCause());
        } catch (TimeoutException e) {
            throw new BenchException(
                    "not all of " + watchers.count() + " watchers were created within " + DEADLINE.toSeconds() + " s",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", e);
        }
    }

    private static RuntimeException understood(@Nullable Throwable why) {
        if (why instanceof NotServedException notServed) {
            return notServed;
        }
        return why instanceof BenchException known ? known : new BenchException("watchers failed", why);
    }

    /** The streams of a connection: watchers are dealt out to the connections in turn. */
    private List<Opening> openings(int connection) {
        int[] its = IntStream.range(0, watchers.count())
                .filter(index -> index % watchers.connections() == connection)
                .toArray();
        return switch (watchers.spread()) {
            case SHARED -> List.of(opening(its));
            case EACH -> IntStream.of(its).mapToObj(this::opening).toList();
        };
    }

    private Opening opening(int... indexes) {
        boolean[] sampled = new boolean[indexes.length];
        for (int watcher = 0; watcher < sampled.length; watcher++) {
            sampled[watcher] = chance.nextInt(watchers.reachedByEachPut()) < SAMPLED_WATCHERS;
        }
        CountedWatchStream stream = new CountedWatchStream(indexes.length, sampled, deliveries, message);
        streams.add(stream);
        return new Opening(
                stream, IntStream.of(indexes).mapToObj(watchers::create).toList());
    }

    /** How many events have been delivered to all watchers together. */
    long delivered() {
        return deliveries.total();
    }

    /** @throws BenchException a watcher was cancelled, or its connection lost */
    void check() {
        if (failure.isCompletedExceptionally()) {
            try {
                failure.join();
            } catch (CompletionException e) {
                throw understood(e.getCause());
            }
        }
    }

    /**
     * Waits until so many puts have reached all their watchers.
     *
     * @return what was delivered
     * @throws BenchException something was lost or repeated
     */
    Deliveries await(long puts) {
        long expected = puts * watchers.reachedByEachPut();
        long before = -1;
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (delivered() < expected) {
            check();
            if (delivered() > before) {
                before = delivered();
                deadline = System.nanoTime() + DEADLINE.toNanos();
            } else if (System.nanoTime() > deadline) {
                throw new BenchException((expected - before) + " of " + expected + " events were not delivered");
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
        requireEachOnce(puts);
        return deliveries;
    }

    private void requireEachOnce(long puts) {
        long wrong = watchers.distinctKeys()
                ? puts
                        - IntStream.range(0, deliveries.samples())
                                .mapToLong(deliveries::number)
                                .distinct()
                                .count()
                : streams.stream()
                        .mapToLong(stream -> stream.watchersWithout(puts))
                        .sum();
        if (wrong > 0 || delivered() != puts * watchers.reachedByEachPut()) {
            throw new BenchException("events were lost or repeated: " + wrong
                    + (watchers.distinctKeys() ? " events" : " watchers did not receive all of " + puts));
        }
    }

    /** Gives up all watchers. */
    @Override
    public void close() {
        channels.forEach(channel -> channel.close().awaitUninterruptibly());
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
