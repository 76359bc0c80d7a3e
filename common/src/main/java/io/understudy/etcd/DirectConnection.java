package io.understudy.etcd;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslHandler;
import io.understudy.etcd.KeptConnections.Answered;
import io.understudy.etcd.KeptConnections.Protocol;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection driven by the calling thread through Netty's handlers. Output without a request, such as
 * acknowledgements, is sent with the next request, or when a response takes long. Deadlines are those of {@link
 * System#nanoTime}. Not thread-safe.
 *
 * <p>An {@link InterruptedIOException} means that the thread was interrupted, a {@link TimeoutException} that the
 * deadline has passed. After any failure it can only be closed.
 */
final class DirectConnection implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DirectConnection.class);

    private static final int READ_BYTES = 16 << 10;

    /** Delay of output that waits for a response. For a ping's acknowledgement, etcd waits 20 s. */
    private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** More than the buffers a server sends unsolicited. */
    private static final int UNSOLICITED_READS = 16;

    /** Idle time after which a firewall may have dropped the connection. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Endpoint endpoint;
    private final SocketChannel socket;
    private final Selector selector;
    private final EmbeddedChannel protocol = new EmbeddedChannel();
    private final ByteBuffer arrived = ByteBuffer.allocateDirect(READ_BYTES);
    private long heardNanos = System.nanoTime();
    /** Whether a write is incomplete, so that nothing may follow it. */
    private boolean cut;

    private DirectConnection(Endpoint endpoint) throws IOException {
        this.endpoint = endpoint;
        this.selector = Selector.open();
        try {
            this.socket = SocketChannel.open();
        } catch (IOException e) {
            selector.close();
            throw e;
        }
    }

    /**
     * Connects.
     *
     * @throws IOException no server is reachable, or with TLS none that is trusted and supports HTTP/2
     */
    static DirectConnection to(Endpoint endpoint, Protocol<byte[]> protocol, long deadline)
            throws IOException, TimeoutException {
        return to(endpoint, addressesOf(endpoint.host(), deadline), protocol, deadline);
    }

    /** Connects to the first reachable address of the endpoint. Each address has its share of the time. */
    static DirectConnection to(Endpoint endpoint, List<InetAddress> addresses, Protocol<byte[]> protocol, long deadline)
            throws IOException, TimeoutException {
        for (int left = addresses.size(); left > 1; left--) {
            InetAddress address = addresses.get(addresses.size() - left);
            long now = System.nanoTime();
            try {
                return to(endpoint, address, protocol, now + (deadline - now) / left);
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException | TimeoutException e) {
                LOG.atDebug()
                        .addKeyValue("endpoint", endpoint)
                        .addKeyValue("address", address)
                        .addKeyValue("cause", e.toString())
                        .log("connect failed");
            }
        }
        return to(endpoint, addresses.get(addresses.size() - 1), protocol, deadline);
    }

    private static DirectConnection to(Endpoint endpoint, InetAddress address, Protocol<byte[]> protocol, long deadline)
            throws IOException, TimeoutException {
        DirectConnection made = new DirectConnection(endpoint);
        boolean connected = false;
        try {
            made.connect(new InetSocketAddress(address, endpoint.port()), protocol, deadline);
            connected = true;
            return made;
        } catch (RuntimeException e) {
            // Such as an address of a kind that this machine doesn't have.
            throw new IOException(e.toString(), e);
        } finally {
            if (!connected) {
                made.close();
            }
        }
    }

    boolean leadsTo(Endpoint other) {
        return endpoint.equals(other);
    }

    /** Whether another request can be made, given what has arrived since the last one. */
    boolean isGood() {
        if (System.nanoTime() - heardNanos > IDLE_NANOS) {
            return false;
        }
        try {
            // A good-bye, perhaps.
            int reads = 0;
            while (reads < UNSOLICITED_READS && read()) {
                reads++;
            }
            return reads < UNSOLICITED_READS
                    && protocol.isOpen()
                    && protocol.inboundMessages().isEmpty();
        } catch (IOException e) {
            LOG.atDebug()
                    .addKeyValue("endpoint", endpoint)
                    .addKeyValue("cause", e.toString())
                    .log("connection closed");
            return false;
        }
    }

    /**
     * Sends a request and waits for the response.
     *
     * @throws IOException the connection was lost, or no valid response arrived
     */
    Answered<byte[]> call(byte[] request, long deadline) throws IOException, TimeoutException {
        handling(() -> protocol.writeOutbound((Object) request));
        write(deadline);
        while (true) {
            awaitAnswer(deadline);
            IOException failure = null;
            try {
                boolean unused = read();
            } catch (IOException e) {
                failure = e;
            }
            Answered<byte[]> answered = protocol.readInbound();
            if (answered != null) {
                // It counts, whatever followed it.
                return failure == null ? answered : new Answered<>(answered.answer(), false);
            }
            if (failure != null) {
                throw failure;
            }
            if (!protocol.isOpen()) {
                throw new IOException("server sent GOAWAY");
            }
        }
    }

    private void awaitAnswer(long deadline) throws IOException, TimeoutException {
        if (!isReady(SelectionKey.OP_READ, Math.min(FLUSH_NANOS, deadline - System.nanoTime()))) {
            handling(protocol::flushOutbound);
            write(deadline);
            await(SelectionKey.OP_READ, deadline);
        }
    }

    private void connect(InetSocketAddress address, Protocol<byte[]> spoken, long deadline)
            throws IOException, TimeoutException {
        socket.configureBlocking(false);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        if (!socket.connect(address)) {
            do {
                await(SelectionKey.OP_CONNECT, deadline);
            } while (!socket.finishConnect());
        }
        if (!endpoint.tls()) {
            handling(() -> spoken.addTo(protocol, endpoint));
            return;
        }
        SslHandler tls = spoken.tls().newHandler(protocol.alloc(), endpoint.host(), endpoint.port());
        handling(() -> {
            protocol.pipeline().addLast(tls);
            // Already now: with the end of the handshake the server's first frames may come.
            spoken.addTo(protocol, endpoint);
        });
        shakeHands(tls, deadline);
    }

    private void shakeHands(SslHandler tls, long deadline) throws IOException, TimeoutException {
        write(deadline);
        while (!tls.handshakeFuture().isDone()) {
            await(SelectionKey.OP_READ, deadline);
            boolean unused = read();
            write(deadline);
        }
        if (!tls.handshakeFuture().isSuccess()) {
            Throwable why = tls.handshakeFuture().cause();
            throw new IOException(why.toString(), why);
        }
        if (!ApplicationProtocolNames.HTTP_2.equals(tls.applicationProtocol())) {
            throw new IOException("server does not support HTTP/2");
        }
    }

    /** Resolves the host on a thread that can be abandoned: a lookup has no deadline. */
    private static List<InetAddress> addressesOf(String host, long deadline) throws IOException, TimeoutException {
        CompletableFuture<List<InetAddress>> addresses = new CompletableFuture<>();
        DaemonThreads.start("etcd-lookup", () -> {
            try {
                addresses.complete(List.of(InetAddress.getAllByName(host)));
            } catch (UnknownHostException | RuntimeException e) {
                addresses.completeExceptionally(e);
            }
        });
        try {
            return addresses.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IOException("unknown host " + host, e);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private void write(long deadline) throws IOException, TimeoutException {
        for (ByteBuf next = protocol.readOutbound(); next != null; next = protocol.readOutbound()) {
            try {
                cut = true;
                while (next.isReadable()) {
                    if (next.readBytes(socket, next.readableBytes()) == 0) {
                        await(SelectionKey.OP_WRITE, deadline);
                    }
                }
                cut = false;
            } finally {
                next.release();
            }
        }
    }

    /** Reads at most one buffer; returns whether anything arrived. */
    boolean read() throws IOException {
        arrived.clear();
        int bytes = socket.read(arrived);
        if (bytes < 0) {
            throw new IOException("connection closed by the server");
        }
        if (bytes > 0) {
            heardNanos = System.nanoTime();
            // Copied: handlers keep what is no whole frame yet.
            handling(() -> protocol.writeInbound(Unpooled.copiedBuffer(arrived.flip())));
        }
        return bytes > 0;
    }

    /** Runs handlers, which may throw undeclared checked exceptions. */
    private static void handling(Handling work) throws IOException {
        try {
            work.run();
        } catch (Exception e) {
            Throwable why = e.getCause() == null ? e : e.getCause();
            throw why instanceof IOException known ? known : new IOException(why.toString(), e);
        }
    }

    private interface Handling {
        void run() throws IOException;
    }

    private void await(int operation, long deadline) throws IOException, TimeoutException {
        if (!isReady(operation, deadline - System.nanoTime())) {
            throw new TimeoutException();
        }
    }

    /** Waits until the operation is ready; false on timeout. */
    private boolean isReady(int operation, long nanos) throws IOException {
        SelectionKey key = socket.keyFor(selector);
        if (key == null) {
            socket.register(selector, operation);
        } else if (key.interestOps() != operation) {
            key.interestOps(operation);
        }
        int ready = nanos <= 0 ? 0 : selector.select(selected -> {}, TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted();
        }
        return ready > 0;
    }

    private static InterruptedIOException interrupted() {
        return new InterruptedIOException("interrupted");
    }

    @Override
    public void close() {
        try (socket;
                selector) {
            handling(this::end);
        } catch (IOException e) {
            LOG.atDebug()
                    .addKeyValue("endpoint", endpoint)
                    .addKeyValue("cause", e.toString())
                    .log("connection close failed");
        }
    }

    /** Sends a TLS close alert, if that is possible without blocking. */
    private void end() throws IOException {
        try {
            var unused = protocol.close();
            for (ByteBuf next = protocol.readOutbound();
                    next != null && !cut && socket.isConnected();
                    next = protocol.readOutbound()) {
                try {
                    next.readBytes(socket, next.readableBytes());
                    cut = next.isReadable();
                } finally {
                    next.release();
                }
            }
        } finally {
            protocol.finishAndReleaseAll();
        }
    }
}
