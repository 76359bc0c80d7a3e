package io.understudy.local.fault;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client's connection and, once open, the one to the target. Confined to the proxy's thread. */
final class ProxyConnection {

    private static final Logger LOG = LoggerFactory.getLogger(ProxyConnection.class);
    private static final int SCRATCH_BYTES = 1 << 15;

    /** The connection to the target. */
    private record Link(SocketChannel channel, SelectionKey key, Flow there, Flow back) {}

    private final Selector selector;
    private final SocketChannel client;
    private final SelectionKey clientKey;
    private final InetSocketAddress target;
    private final String party;
    private final Counters counters;
    private final ByteBuffer scratch = ByteBuffer.allocate(SCRATCH_BYTES);
    private @Nullable Link link;
    private boolean halfOpen;

    ProxyConnection(Selector selector, SocketChannel client, InetSocketAddress target, String party, Counters counters)
            throws IOException {
        this.selector = selector;
        this.client = client;
        this.target = target;
        this.party = party;
        this.counters = counters;
        client.configureBlocking(false);
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        this.clientKey = client.register(selector, 0, this);
    }

    String party() {
        return party;
    }

    /**
     * Transfers what the two faults allow now and registers interest for the rest.
     *
     * @return false when it is closed
     */
    boolean pump(LinkFault all, LinkFault its) {
        try {
            return switch (worse(all.mode(), its.mode())) {
                case CUT -> end();
                case BLACK_HOLE -> halfOpen ? swallow() : hold();
                case HALF_OPEN -> swallow();
                case FLOWS -> halfOpen ? end() : flow(all, its);
            };
        } catch (IOException e) {
            LOG.atDebug()
                    .addKeyValue("client", client)
                    .addKeyValue("target", target)
                    .addKeyValue("cause", e.toString())
                    .log("connection closed");
            return end();
        }
    }

    private static LinkFault.Mode worse(LinkFault.Mode one, LinkFault.Mode other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private boolean end() {
        reset();
        return false;
    }

    private boolean hold() {
        clientKey.interestOps(0);
        Link open = link;
        if (open != null) {
            open.key().interestOps(0);
            open.there().hold();
            open.back().hold();
        }
        return true;
    }

    private boolean swallow() throws IOException {
        halfOpen = true;
        Link open = link;
        if (open != null) {
            open.channel().close();
            link = null;
        }
        int read = client.read(scratch.clear());
        while (read > 0) {
            read = client.read(scratch.clear());
        }
        if (read < 0) {
            return end();
        }
        clientKey.interestOps(SelectionKey.OP_READ);
        return true;
    }

    private boolean flow(LinkFault all, LinkFault its) throws IOException {
        Link open = link == null ? connect() : link;
        if (!open.channel().finishConnect()) {
            open.key().interestOps(SelectionKey.OP_CONNECT);
            return true;
        }
        long delay = all.delay().plus(its.delay()).toNanos();
        open.there().pump(delay, all.toTarget(), its.toTarget(), scratch);
        open.back().pump(delay, all.fromTarget(), its.fromTarget(), scratch);
        if (open.there().isDone() && open.back().isDone()) {
            open.channel().close();
            client.close();
            return false;
        }
        clientKey.interestOps(interest(open.there(), open.back(), delay));
        open.key().interestOps(interest(open.back(), open.there(), delay));
        return true;
    }

    private static int interest(Flow out, Flow in, long delay) {
        return (out.wantsRead(delay) ? SelectionKey.OP_READ : 0) | (in.wantsWrite() ? SelectionKey.OP_WRITE : 0);
    }

    private Link connect() throws IOException {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        SelectionKey key = channel.register(selector, 0, this);
        Link made = new Link(
                channel,
                key,
                new Flow(client, channel, counters.bytesToTarget()),
                new Flow(channel, client, counters.bytesFromTarget()));
        // Before connecting, so that a refusal finds the channel to close.
        link = made;
        channel.connect(target);
        return made;
    }

    /** Nanoseconds until it can continue, 0 for now, {@code MAX_VALUE} if not by time alone. */
    long waitNanos(long now) {
        Link open = link;
        return open == null
                ? Long.MAX_VALUE
                : Math.min(open.there().waitNanos(now), open.back().waitNanos(now));
    }

    /** Closes both sides with a reset, like a network that has lost the connection's state. */
    void reset() {
        reset(client);
        Link open = link;
        if (open != null) {
            reset(open.channel());
        }
    }

    static void reset(SocketChannel channel) {
        try (channel) {
            if (channel.isConnected()) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
        } catch (IOException e) {
            LOG.atDebug()
                    .addKeyValue("channel", channel)
                    .addKeyValue("cause", e.toString())
                    .log("connection reset failed");
        }
    }
}
