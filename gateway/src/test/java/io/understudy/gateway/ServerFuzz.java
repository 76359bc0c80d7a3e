package io.understudy.gateway;

import static org.awaitility.Awaitility.await;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import io.understudy.local.etcd.LocalEtcd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A gateway of real etcd and clients that send anything: each is answered or disconnected in time, no response contains a
 * stack trace, and a well-behaved client is always served.
 */
public final class ServerFuzz {

    private static final int PATIENCE_MILLIS = 10_000;
    private static final Pattern STACK_TRACE = Pattern.compile("\tat [\\w.$]+\\(|\\w\\.java:\\d+");

    private static final List<String> WEB_PATHS = List.of(
            "/v3/kv/range",
            "/v3/kv/txn",
            "/v3/kv/put",
            "/v3/cluster/member/list",
            "/v3/maintenance/status",
            "/v3/lease/timetolive",
            "/v3/auth/authenticate",
            "/health",
            "/readyz",
            "/version",
            "/v3/nothing");
    private static final List<String> REST_PATHS =
            List.of("/v1/kv/", "/v1/kv?prefix=", "/v1/kv?cursor=", "/v1/kv?limit=", "/v1/status", "/v1/", "/");
    private static final List<String> GRPC_PATHS = List.of(
            "/etcdserverpb.KV/Range",
            "/etcdserverpb.KV/Txn",
            "/etcdserverpb.KV/Put",
            "/etcdserverpb.Watch/Watch",
            "/etcdserverpb.Lease/LeaseKeepAlive",
            "/etcdserverpb.Maintenance/Status",
            "/etcdserverpb.Cluster/MemberList",
            "/etcdserverpb.Nothing/Nothing");

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int LONGEST_FRAME = 16_384;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final byte[] LAST_PING = "the last".getBytes(StandardCharsets.US_ASCII);

    private static int apiPort;
    private static int restPort;
    private static int inputs;

    private ServerFuzz() {}

    public static void fuzzerInitialize() {
        try {
            Path folder = Files.createTempDirectory("fuzz");
            LocalEtcd etcd = LocalEtcd.builder()
                    .name("fuzz")
                    .voters(1)
                    .fsync(false)
                    .dataDirectory(folder)
                    .build();
            etcd.start();
            for (int i = 0; i < 20; i++) {
                etcd.etcdctl("put", "key-" + i, "value");
            }
            Gateway gateway = Gateway.start(GatewayFixture.settings(etcd));
            String ready = "GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            await().atMost(GatewayFixture.PATIENCE)
                    .until(() -> http(gateway.apiPort(), ready).contains(" 200 "));
            apiPort = gateway.apiPort();
            restPort = gateway.restPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    public static void fuzzerTestOneInput(FuzzedDataProvider data) throws IOException {
        switch (data.consumeInt(0, 4)) {
            case 0 -> noise(data.consumeBoolean() ? apiPort : restPort, data);
            case 1 -> json(data);
            case 2 -> rest(data);
            default -> frames(data);
        }
        if (inputs++ % 50 == 0) {
            requireServing();
        }
    }

    /** Bytes of no protocol; no answer is required. */
    private static void noise(int port, FuzzedDataProvider data) throws IOException {
        try (Socket socket = connect(port)) {
            socket.getOutputStream().write(data.consumeRemainingAsBytes());
            socket.setSoLinger(true, 0);
        }
    }

    private static void json(FuzzedDataProvider data) throws IOException {
        String path = data.pickValue(WEB_PATHS);
        String header = line(data.consumeAsciiString(20));
        byte[] body = data.consumeRemainingAsBytes();
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(("POST " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Any: " + header
                        + "\r\nContent-Length: " + body.length + "\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1));
        request.writeBytes(body);
        requireAnswer(request.toString(StandardCharsets.ISO_8859_1), exchange(apiPort, request.toByteArray()));
    }

    private static void rest(FuzzedDataProvider data) throws IOException {
        String path = data.pickValue(REST_PATHS)
                + line(data.consumeRemainingAsAsciiString()).replace(' ', '+');
        requireAnswer(path, http(restPort, "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    }

    /** HTTP/2 of frames in any order, most of them well formed, then a ping: it is answered, or the connection ended. */
    private static void frames(FuzzedDataProvider data) throws IOException {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        sent.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(sent, SETTINGS, 0, 0, new byte[0]);
        int count = data.consumeInt(1, 12);
        for (int i = 0; i < count && data.remainingBytes() > 0; i++) {
            int stream = data.consumeInt(0, 9);
            switch (data.consumeInt(0, 3)) {
                case 0 ->
                    frame(sent, HEADERS, END_HEADERS | (data.consumeBoolean() ? END_STREAM : 0), stream, head(data));
                case 1 -> frame(sent, DATA, data.consumeBoolean() ? END_STREAM : 0, stream, message(data));
                default ->
                    frame(
                            sent,
                            data.consumeInt(0, 12),
                            data.consumeInt(0, 255),
                            stream,
                            data.consumeBytes(data.consumeInt(0, 64)));
            }
        }
        frame(sent, PING, 0, 0, LAST_PING);
        try (Socket socket = connect(apiPort)) {
            OutputStream out = socket.getOutputStream();
            out.write(sent.toByteArray());
            out.flush();
            requireEchoOrEnd(sent.toString(StandardCharsets.ISO_8859_1), socket.getInputStream());
            socket.setSoLinger(true, 0);
        } catch (SocketTimeoutException e) {
            throw new AssertionError("neither an answer nor an end within " + PATIENCE_MILLIS + " ms", e);
        } catch (IOException e) {
            // The connection was cut, which is allowed.
        }
    }

    private static void requireEchoOrEnd(String input, InputStream in) throws IOException {
        while (true) {
            byte[] head = in.readNBytes(9);
            if (head.length < 9) {
                return;
            }
            int length = ((head[0] & 0xff) << 16) | ((head[1] & 0xff) << 8) | (head[2] & 0xff);
            byte[] payload = in.readNBytes(length);
            requireNoStackTrace(input, new String(payload, StandardCharsets.ISO_8859_1));
            boolean echo = head[3] == PING && (head[4] & 1) == 1 && Arrays.equals(payload, LAST_PING);
            if (echo || head[3] == GOAWAY) {
                return;
            }
        }
    }

    private static byte[] head(FuzzedDataProvider data) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        literal(block, ":method", data.consumeInt(0, 9) == 0 ? "GET" : "POST");
        literal(block, ":scheme", "http");
        literal(block, ":path", data.pickValue(GRPC_PATHS));
        literal(block, ":authority", "a");
        literal(block, "content-type", data.consumeInt(0, 9) == 0 ? data.consumeAsciiString(10) : "application/grpc");
        literal(block, "te", "trailers");
        if (data.consumeBoolean()) {
            literal(
                    block,
                    data.consumeBoolean() ? "grpc-timeout" : "understudy-min-revision",
                    data.consumeAsciiString(12));
        }
        return block.toByteArray();
    }

    /** Without indexing and without Huffman's code. */
    private static void literal(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        block.write(name.length());
        block.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        block.write(value.length());
        block.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    /** A message of any bytes, in a frame of gRPC's that is mostly right. */
    private static byte[] message(FuzzedDataProvider data) {
        byte[] body = data.consumeBytes(data.consumeInt(0, 300));
        int length = data.consumeInt(0, 9) == 0 ? data.consumeInt() : body.length;
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.write(data.consumeInt(0, 9) == 0 ? 1 : 0);
        message.writeBytes(
                new byte[] {(byte) (length >>> 24), (byte) (length >>> 16), (byte) (length >>> 8), (byte) length});
        message.writeBytes(body);
        return message.toByteArray();
    }

    private static void frame(ByteArrayOutputStream to, int type, int flags, int stream, byte[] payload) {
        int length = Math.min(payload.length, LONGEST_FRAME);
        to.writeBytes(new byte[] {
            (byte) (length >>> 16),
            (byte) (length >>> 8),
            (byte) length,
            (byte) type,
            (byte) flags,
            0,
            0,
            0,
            (byte) stream
        });
        to.write(payload, 0, length);
    }

    private static void requireServing() throws IOException {
        String key = http(
                apiPort,
                "POST /v3/kv/range HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 20\r\n\r\n{\"key\":\"a2V5LTA=\"}   ");
        if (!key.contains("dmFsdWU=")) {
            throw new AssertionError("a client that behaves is not served: " + key);
        }
    }

    private static void requireAnswer(String input, String answer) {
        if (!answer.startsWith("HTTP/1.1 ")) {
            throw new AssertionError("no answer: " + answer);
        }
        requireNoStackTrace(input, answer);
    }

    /** The input itself may contain the pattern, and an answer may repeat the input, as a ping's does. */
    private static void requireNoStackTrace(String input, String answer) {
        if (!input.contains("java") && STACK_TRACE.matcher(answer).find()) {
            throw new AssertionError("a stack trace: " + answer);
        }
    }

    private static String line(String text) {
        return text.replaceAll("[^\\x20-\\x7e]", "~");
    }

    private static String http(int port, String request) throws IOException {
        return exchange(port, request.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String exchange(int port, byte[] request) throws IOException {
        try (Socket socket = connect(port)) {
            socket.getOutputStream().write(request);
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (SocketTimeoutException e) {
            throw new AssertionError("no answer within " + PATIENCE_MILLIS + " ms", e);
        }
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }
}
