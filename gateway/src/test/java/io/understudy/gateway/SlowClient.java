package io.understudy.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads a stream of events only on demand, so that what is sent to it piles up. */
final class SlowClient implements AutoCloseable {

    private final Socket socket = new Socket();
    private final BufferedReader in;

    SlowClient(int port, String target) throws IOException {
        socket.setReceiveBufferSize(16 << 10);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout(30_000);
        socket.getOutputStream()
                .write(("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8), 1 << 10);
    }

    /** Waits until the stream has begun. */
    void awaitHead() throws IOException {
        String line = in.readLine();
        while (!line.startsWith("id: ")) {
            line = in.readLine();
        }
    }

    /** Returns the IDs of so many events with data. */
    List<Long> readIds(int count) throws IOException {
        List<Long> ids = new ArrayList<>();
        String id = "";
        while (ids.size() < count) {
            String line = in.readLine();
            if (line.startsWith("id: ")) {
                id = line.substring(4);
            } else if (line.startsWith("data: ")) {
                ids.add(Long.parseLong(id));
            }
        }
        return ids;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
