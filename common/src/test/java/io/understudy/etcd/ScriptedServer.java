package io.understudy.etcd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers each call over HTTP/2 by an empty message, with the test's frames before and after it. */
final class ScriptedServer implements AutoCloseable {

    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RESET = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    /** What a call has arrived on. */
    record Call(OutputStream out, int stream) {

        void frame(int type, int flags, int of, int... words) throws IOException {
            ByteBuffer payload = ByteBuffer.allocate(4 * words.length);
            for (int word : words) {
                payload.putInt(word);
            }
            raw(type, flags, of, payload.array());
        }

        void raw(int type, int flags, int of, byte[] payload) throws IOException {
            out.write(ByteBuffer.allocate(9 + payload.length)
                    .put((byte) 0)
                    .putShort((short) payload.length)
                    .put((byte) type)
                    .put((byte) flags)
                    .putInt(of)
                    .put(payload)
                    .array());
        }

        /** An empty message, headers by literals (RFC 7541, 6.2.2). */
        void answer() throws IOException {
            raw(HEADERS, END_HEADERS, stream, new byte[] {(byte) 0x88});
            raw(DATA, 0, stream, new byte[5]);
            byte[] trailers = "\0\13grpc-status\0010".getBytes(ISO_8859_1);
            raw(HEADERS, END_HEADERS | END_STREAM, stream, trailers);
        }
    }

    interface Step {
        void with(Call call) throws IOException;
    }

    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> accepted = new CopyOnWriteArrayList<>();
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger pingsAnswered = new AtomicInteger();
    volatile Step before = call -> {};
    volatile Step after = call -> {};
    volatile boolean closesAtNextCall;
    /** Whether a call is only answered once a ping was. */
    volatile boolean withholds;

    ScriptedServer() throws IOException {
        start(this::accept);
    }

    int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = socket.accept();
                accepted.add(connection);
                connections.incrementAndGet();
                start(() -> serve(connection));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            DataInputStream in = new DataInputStream(connection.getInputStream());
            in.skipNBytes(24);
            OutputStream out = new BufferedOutputStream(connection.getOutputStream());
            new Call(out, 0).frame(SETTINGS, 0, 0);
            Call withheld = null;
            while (true) {
                int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                int type = in.readUnsignedByte();
                int flags = in.readUnsignedByte();
                int stream = in.readInt();
                in.skipNBytes(length);
                if (type == PING && (flags & ACK) != 0) {
                    pingsAnswered.incrementAndGet();
                    if (withheld != null) {
                        withheld.answer();
                        out.flush();
                        withheld = null;
                    }
                }
                if (type == DATA) {
                    if (closesAtNextCall) {
                        closesAtNextCall = false;
                        return;
                    }
                    Call call = new Call(out, stream);
                    before.with(call);
                    if (withholds) {
                        withheld = call;
                        out.flush();
                        continue;
                    }
                    call.answer();
                    after.with(call);
                    out.flush();
                }
            }
        } catch (IOException e) {
            // The client is gone, or the test wants to be.
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "scripted-server");
        thread.setDaemon(true);
        thread.start();
    }

    /** Ends all connections. */
    void disconnect() throws IOException {
        for (Socket each : accepted) {
            each.close();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
        disconnect();
    }
}
