package io.understudy.local.fault;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

/** Sends back what it gets. */
final class EchoServer implements AutoCloseable {

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicInteger open = new AtomicInteger();
    private volatile boolean reads = true;

    EchoServer() throws IOException {
        inBackground(this::accept);
    }

    InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort());
    }

    int openConnections() {
        return open.get();
    }

    void stopReading() {
        reads = false;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = server.accept();
                inBackground(() -> echo(client));
            }
        } catch (IOException e) {
            // Closed: the test is over.
        }
    }

    private void echo(Socket client) {
        open.incrementAndGet();
        if (!reads) {
            return;
        }
        try (client) {
            byte[] buffer = new byte[1 << 16];
            for (int read = client.getInputStream().read(buffer);
                    read >= 0;
                    read = client.getInputStream().read(buffer)) {
                client.getOutputStream().write(buffer, 0, read);
            }
        } catch (IOException e) {
            // A fault that the test made.
        } finally {
            open.decrementAndGet();
        }
    }

    private static void inBackground(Runnable work) {
        Thread thread = new Thread(work, "echo");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
