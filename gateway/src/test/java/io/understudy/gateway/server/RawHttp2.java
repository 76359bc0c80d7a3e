package io.understudy.gateway.server;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** An HTTP/2 client that sends any frames, valid or not. */
public final class RawHttp2 implements AutoCloseable {

    public static final int DATA = 0;
    public static final int HEADERS = 1;
    public static final int PRIORITY = 2;
    public static final int RST_STREAM = 3;
    public static final int SETTINGS = 4;
    public static final int PING = 6;
    public static final int GOAWAY = 7;
    public static final int WINDOW_UPDATE = 8;
    public static final int CONTINUATION = 9;

    public static final int END_STREAM = 1;
    public static final int ACK = 1;
    public static final int END_HEADERS = 4;

    private final Socket socket;
    private final OutputStream out;
    private final InputStream in;

    /** Connects and sends the preface, with settings that make headers legible. */
    public RawHttp2(int port, Duration patience) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) patience.toMillis());
        out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        // No table, so that all headers can be read as they are.
        frame(SETTINGS, 0, 0, new byte[] {0, 1, 0, 0, 0, 0});
        out.flush();
    }

    /** One that was sent. */
    public static final class Frame {
        private final int type;
        private final int flags;
        private final int stream;
        private final byte[] payload;

        Frame(int type, int flags, int stream, byte[] payload) {
            this.type = type;
            this.flags = flags;
            this.stream = stream;
            this.payload = payload;
        }

        public int type() {
            return type;
        }

        public int flags() {
            return flags;
        }

        public int stream() {
            return stream;
        }

        public byte[] payload() {
            return payload;
        }
    }

    /** Sent at the latest by {@link #flush}. */
    public void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.write(new byte[] {
            (byte) (payload.length >>> 16),
            (byte) (payload.length >>> 8),
            (byte) payload.length,
            (byte) type,
            (byte) flags,
            (byte) (stream >>> 24),
            (byte) (stream >>> 16),
            (byte) (stream >>> 8),
            (byte) stream
        });
        out.write(payload);
    }

    public void raw(byte[] bytes) throws IOException {
        out.write(bytes);
    }

    public void flush() throws IOException {
        out.flush();
    }

    /** The next frame; null at the connection's end. */
    public Frame next() throws IOException {
        byte[] head = in.readNBytes(9);
        if (head.length < 9) {
            return null;
        }
        int length = (head[0] & 0xff) << 16 | (head[1] & 0xff) << 8 | (head[2] & 0xff);
        return new Frame(head[3], head[4], number(head, 5), in.readNBytes(length));
    }

    /** The next of those frames; null at the connection's end. */
    public Frame next(int type) throws IOException {
        Frame frame = next();
        while (frame != null && (frame.type() != type || (type == SETTINGS && frame.flags() == ACK))) {
            frame = next();
        }
        return frame;
    }

    /** What the connection was ended for: the debug data of GOAWAY; null if it ended without that. */
    public String reason() throws IOException {
        Frame goAway = next(GOAWAY);
        return goAway == null
                ? null
                : new String(goAway.payload(), 8, goAway.payload().length - 8, StandardCharsets.UTF_8);
    }

    /** Opens a stream for a call of gRPC's, with these fields beside: names and values in turn. */
    public void call(int stream, String path, boolean end, List<String> fields) throws IOException {
        frame(HEADERS, END_HEADERS | (end ? END_STREAM : 0), stream, head(path, fields));
    }

    /** The block of headers of a call. */
    public static byte[] head(String path, List<String> fields) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.write(0x83);
        block.write(0x86);
        literal(block, 0, ":path", path);
        literal(block, 0, ":authority", "a");
        literal(block, 0, "content-type", "application/grpc");
        literal(block, 0, "te", "trailers");
        for (int i = 0; i < fields.size(); i += 2) {
            literal(block, 0, fields.get(i), fields.get(i + 1));
        }
        return block.toByteArray();
    }

    /** A field as HPACK has it: {@code form} 0 is not put into the table, 0x40 is. */
    public static void literal(ByteArrayOutputStream block, int form, String name, String value) {
        block.write(form);
        text(block, name);
        text(block, value);
    }

    private static void text(ByteArrayOutputStream block, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length < 127) {
            block.write(bytes.length);
        } else {
            block.write(127);
            int rest = bytes.length - 127;
            while (rest >= 128) {
                block.write(rest % 128 + 128);
                rest /= 128;
            }
            block.write(rest);
        }
        block.writeBytes(bytes);
    }

    /** A message of gRPC's. */
    public static byte[] message(byte[] body) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.write(0);
        message.writeBytes(bytes(body.length));
        message.writeBytes(body);
        return message.toByteArray();
    }

    /** A number of four bytes. */
    public static byte[] bytes(int number) {
        return new byte[] {(byte) (number >>> 24), (byte) (number >>> 16), (byte) (number >>> 8), (byte) number};
    }

    private static int number(byte[] bytes, int at) {
        return (bytes[at] & 0xff) << 24
                | (bytes[at + 1] & 0xff) << 16
                | (bytes[at + 2] & 0xff) << 8
                | (bytes[at + 3] & 0xff);
    }

    @Override
    public void close() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }
}
