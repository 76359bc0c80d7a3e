package io.understudy.local.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread of a proxy. It owns all fields but the queue of tasks and the counters. */
final class ProxyLoop {

    /** No party has this name. */
    static final String EVERYONE = "\u0000everyone";

    private static final Logger LOG = LoggerFactory.getLogger(ProxyLoop.class);
    private static final long DEADLINE_SECONDS = 10;

    private final Selector selector;
    private final ServerSocketChannel server;
    private final InetSocketAddress address;
    private final InetSocketAddress target;
    private final Party party;
    private final Counters counters = new Counters();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Map<String, LinkFault> faults = new HashMap<>();
    private final Set<ProxyConnection> connections = new HashSet<>();
    private final Thread thread;
    private volatile boolean closed;

    private ProxyLoop(Selector selector, ServerSocketChannel server, InetSocketAddress target, Party party)
            throws IOException {
        this.selector = selector;
        this.server = server;
        this.address = (InetSocketAddress) server.getLocalAddress();
        this.target = target;
        this.party = party;
        this.thread = new Thread(this::run, "fault-proxy-" + address.getPort());
        this.thread.setDaemon(true);
    }

    static ProxyLoop start(InetSocketAddress listen, InetSocketAddress target, Party party) throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.bind(listen);
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            ProxyLoop loop = new ProxyLoop(selector, server, target, party);
            loop.thread.start();
            return loop;
        } catch (IOException e) {
            server.close();
            selector.close();
            throw e;
        }
    }

    InetSocketAddress address() {
        return address;
    }

    Counters counters() {
        return counters;
    }

    /** Changes the fault of one party or of all; returns when it is in force. */
    void change(String name, UnaryOperator<LinkFault> change) {
        onLoop(() -> {
            faults.put(name, change.apply(faults.getOrDefault(name, LinkFault.NONE)));
            pumpAll();
        });
    }

    /** Ends all faults and returns when none is in force. */
    void heal() {
        onLoop(() -> {
            faults.clear();
            pumpAll();
        });
    }

    void close(long patienceMillis) {
        closed = true;
        selector.wakeup();
        try {
            thread.join(patienceMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void onLoop(Runnable task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        tasks.add(() -> {
            task.run();
            done.complete(null);
        });
        selector.wakeup();
        if (closed) {
            throw new IllegalStateException("proxy on port " + address.getPort() + " is closed");
        }
        done.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
    }

    private void run() {
        try {
            while (!closed) {
                long wait = pumpDue();
                if (wait == 0) {
                    selector.selectNow();
                } else {
                    // Rounded up: waking before the time would only spin.
                    selector.select(wait == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(wait) + 1);
                }
                for (SelectionKey key : selector.selectedKeys()) {
                    handle(key);
                }
                selector.selectedKeys().clear();
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.atError()
                    .addKeyValue("port", address.getPort())
                    .addKeyValue("target", target)
                    .setCause(e)
                    .log("proxy failed");
        } finally {
            closed = true;
            release();
        }
    }

    private void handle(SelectionKey key) throws IOException {
        if (!key.isValid()) {
            return;
        }
        if (key.attachment() instanceof ProxyConnection connection) {
            pump(connection);
        } else {
            accept();
        }
    }

    private void accept() throws IOException {
        for (SocketChannel client = server.accept(); client != null; client = server.accept()) {
            Optional<String> name = party.at((InetSocketAddress) client.getRemoteAddress());
            if (name.isEmpty()) {
                // Usually it is gone already. Passing it on could carry traffic past a rule.
                LOG.atDebug()
                        .addKeyValue("port", address.getPort())
                        .addKeyValue("client", client)
                        .log("connection refused: unknown client");
                ProxyConnection.reset(client);
                continue;
            }
            ProxyConnection connection = new ProxyConnection(selector, client, target, name.get(), counters);
            connections.add(connection);
            counters.opened();
            pump(connection);
        }
    }

    private void pumpAll() {
        for (ProxyConnection connection : List.copyOf(connections)) {
            pump(connection);
        }
    }

    /** Pumps connections that are due; returns the nanoseconds until the next, {@code MAX_VALUE} for never. */
    private long pumpDue() {
        long next = Long.MAX_VALUE;
        for (ProxyConnection connection : new ArrayList<>(connections)) {
            if (connection.waitNanos(System.nanoTime()) == 0) {
                pump(connection);
            }
            if (connections.contains(connection)) {
                next = Math.min(next, connection.waitNanos(System.nanoTime()));
            }
        }
        return next;
    }

    private void pump(ProxyConnection connection) {
        LinkFault all = faults.getOrDefault(EVERYONE, LinkFault.NONE);
        LinkFault its = faults.getOrDefault(connection.party(), LinkFault.NONE);
        if (!connection.pump(all, its)) {
            connections.remove(connection);
            counters.closed();
        }
    }

    private void release() {
        connections.forEach(ProxyConnection::reset);
        counters.allClosed();
        try {
            server.close();
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close the proxy on port " + address.getPort(), e);
        } finally {
            tasks.clear();
        }
    }
}
