package io.understudy.gateway;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Generates requests of HTTP/1.1 with heads that differ from an ordinary one in one or two parts. */
final class HttpHeads {

    /** Status of a connection that was closed without one, or that stays silent. */
    static final int NONE = 0;

    /** @param isPlain whether it differs in one part only, which determines its status */
    record Head(String text, boolean isPlain) {}

    private static final int PATIENCE_MILLIS = 2_000;
    private static final String BODY = "{\"key\":\"YQ==\"}";
    private static final String LENGTH = "Content-Length: 14\r\n";
    private static final String CHUNKED = "Transfer-Encoding: chunked\r\n";
    private static final String CHUNKS = "e\r\n" + BODY + "\r\n0\r\n\r\n";

    private static final List<String> METHODS =
            List.of("POST", "GET", "HEAD", "PUT", "OPTIONS", "CONNECT", "post", "PO(ST", "PO\tST", "");

    private static final List<String> TARGETS = List.of(
            "http://x/v3/kv/range",
            "https://u:p@x:1/v3/kv/range?a=b",
            "HTTP://x/health",
            "http:///health",
            "http://x",
            "http://x?y",
            "http://[::1]/health",
            "http://[::1/health",
            "http://a b/health",
            "http://a<b/health",
            "http:health",
            "1http://x/health",
            "x://y/v3/kv/range",
            "x",
            "x:80",
            "*",
            "?x",
            "/",
            "/he%61lth",
            "/v3/kv/r%61nge",
            "/v3/kv%2Frange",
            "/health%",
            "/health%zz",
            "/health?%zz",
            "/health#x",
            "/health?x#y",
            "/hea lth",
            "/health\1",
            "/heal\177th",
            "/heal\351th",
            "/v3beta/kv/range");

    private static final List<String> VERSIONS =
            List.of("HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/1", "HTTP/1.1 ", "HTTP/1.10", "FOO/1.1", "");

    private static final List<String> HOSTS = List.of(
            "",
            "Host: x\r\nHost: x\r\n",
            "Host: x\r\nHost: y\r\n",
            "Host: x\r\nhost: y\r\n",
            "Host:\r\n",
            "Host: x,y\r\n",
            "Host: a b\r\n",
            "Host: x/y\r\n",
            "Host: a@b\r\n",
            "Host: \"x\"\r\n",
            "Host: %\r\n",
            "Host: [::1]:80\r\n",
            "Host: x\351\r\n",
            "Host : x\r\n",
            "Host\r\n");

    /** Fields that frame a body, and the body. */
    private static final List<String> LENGTHS = List.of(
            "Content-Length: 014\r\n",
            "Content-Length: +14\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 14, 14\r\n",
            "Content-Length: 14\r\nContent-Length: 15\r\n",
            "Content-Length:\r\n",
            "Content-Length: 0xe\r\n",
            "Content-Length: 14 \r\n",
            "Content-Length: 1 4\r\n",
            "Content-Length : 14\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Transfer-Encoding: identity\r\n" + LENGTH,
            "Transfer-Encoding:\r\n" + LENGTH,
            "Transfer-Encoding: gzip\r\n" + LENGTH,
            "TransferEncoding: chunked\r\n" + LENGTH);

    private static final List<String> CODINGS = List.of(
            CHUNKED,
            CHUNKED + CHUNKED,
            "Transfer-Encoding: Chunked\r\n",
            "Transfer-Encoding: \tchunked\t\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: chunked, gzip\r\n",
            "Transfer-Encoding: chunked, chunked\r\n",
            "Transfer-Encoding: gzip\r\n" + CHUNKED,
            "Transfer-Encoding: chunked;q=1\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "Transfer-Encoding: \"chunked\"\r\n",
            "Transfer-Encoding:\13chunked\r\n",
            "Transfer-Encoding : chunked\r\n",
            "Transfer-Encoding: chunked\r\n ,gzip\r\n");

    private static final List<String> FIELDS = List.of(
            "TE: trailers\r\n",
            "TE: gzip, chunked;q=0\r\n",
            "TE: chunked\r\nTE: x\r\n",
            "Expect: x\r\n",
            "Upgrade: h2c\r\nConnection: upgrade\r\n",
            "Connection: Transfer-Encoding, Host\r\n",
            ": x\r\n",
            "a b: x\r\n",
            "(x): y\r\n",
            "X: a\r\n b\r\n",
            "X: \1\r\n",
            "X: \0\r\n",
            "X: \177\r\n",
            "X: \377\r\n",
            "X\351: y\r\n",
            "no colon\r\n",
            "X: a\rb: c\r\n");

    private String method = "POST";
    private String target = "/v3/kv/range";
    private String version = "HTTP/1.1";
    private String host = "Host: x\r\n";
    private String framing = LENGTH;
    private String body = BODY;
    private String field = "";

    private HttpHeads() {}

    static List<Head> generate(Random random, int count) {
        return IntStream.range(0, count).mapToObj(i -> one(random, i)).toList();
    }

    /** Requests that etcd accepts and Netty's parser rejects: servers disagree on what these mean (RFC 9112, 2.2 and 6). */
    static List<String> stricter() {
        HttpHeads twoLengths = new HttpHeads();
        twoLengths.framing = LENGTH + LENGTH;
        HttpHeads lineFeed = new HttpHeads();
        lineFeed.field = "X: a\n";
        HttpHeads oldChunks = new HttpHeads();
        oldChunks.version = "HTTP/1.0";
        oldChunks.framing = LENGTH + CHUNKED;
        HttpHeads both = new HttpHeads();
        both.framing = LENGTH + CHUNKED;
        both.body = CHUNKS;
        return Stream.of(twoLengths, lineFeed, oldChunks, both)
                .map(HttpHeads::text)
                .toList();
    }

    private static Head one(Random random, int i) {
        HttpHeads head = new HttpHeads();
        List<Integer> parts = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6));
        Collections.shuffle(parts, random);
        for (int part : parts.subList(0, 1 + i % 2)) {
            switch (part) {
                case 0 -> head.method = any(METHODS, random);
                case 1 -> head.target = any(TARGETS, random);
                case 2 -> head.version = any(VERSIONS, random);
                case 3 -> head.host = any(HOSTS, random);
                case 4 -> {
                    head.framing = any(LENGTHS, random);
                    head.body = BODY;
                }
                case 5 -> {
                    head.framing = any(CODINGS, random);
                    head.body = CHUNKS;
                }
                default -> head.field = any(FIELDS, random);
            }
        }
        if (head.framing.contains("Transfer") || head.framing.indexOf("Length") != head.framing.lastIndexOf("Length")) {
            head.version = "HTTP/1.1";
        }
        return new Head(head.text(), i % 2 == 0);
    }

    private static String any(List<String> values, Random random) {
        return values.get(random.nextInt(values.size()));
    }

    private String text() {
        return method + " " + target + " " + version + "\r\n" + host + field + framing + "Connection: close\r\n\r\n"
                + body;
    }

    /** Returns the status that a request is answered with, or {@link #NONE}. */
    static int status(int port, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            String line = new String(socket.getInputStream().readNBytes(12), StandardCharsets.ISO_8859_1);
            return line.length() < 12 ? NONE : Integer.parseInt(line.substring(9));
        } catch (SocketTimeoutException e) {
            return NONE;
        } catch (IOException e) {
            // Reset, with the answer unread.
            return NONE;
        }
    }
}
