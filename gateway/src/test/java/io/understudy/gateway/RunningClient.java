package io.understudy.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A client program in a process of its own, which runs until it or this JVM ends. Thread-safe. */
final class RunningClient implements AutoCloseable {

    /** Ends the program once its input is closed. */
    private static final String UNTIL_LEFT_ALONE = "exec 3<&0; \"$@\" </dev/null & client=$!;"
            + " cat <&3 >/dev/null & left=$!;"
            + " wait -n; status=$?; kill $client $left 2>/dev/null; exit $status";

    private final Process process;
    private final Writer input;
    private final List<String> printed = new CopyOnWriteArrayList<>();

    private volatile boolean closed;

    private RunningClient(List<String> line, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
        builder.environment().putAll(environment);
        process = builder.start();
        input = process.outputWriter(StandardCharsets.UTF_8);
        Thread reader = new Thread(this::read, "client-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a program without input. */
    static RunningClient start(List<String> line, Map<String, String> environment) throws IOException {
        List<String> guarded = new ArrayList<>(List.of("bash", "-c", UNTIL_LEFT_ALONE, "client"));
        guarded.addAll(line);
        return new RunningClient(guarded, environment);
    }

    /** Starts a program that ends by itself when its input does. */
    static RunningClient startInteractive(List<String> line) throws IOException {
        return new RunningClient(line, Map.of());
    }

    /** Writes a line to its input. */
    void type(String line) throws IOException {
        input.write(line + "\n");
        input.flush();
    }

    /** All output lines so far, errors included. */
    List<String> printed() {
        return printed;
    }

    /** The output without the lines of its log. */
    List<String> output() {
        return printed.stream().filter(line -> !line.startsWith("{\"level\"")).toList();
    }

    boolean hasEnded() {
        return !process.isAlive();
    }

    @Override
    public void close() {
        closed = true;
        try {
            input.close();
        } catch (IOException e) {
            // It has ended already.
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                printed.add(line);
            }
        } catch (IOException e) {
            // Killing it closes its output, under the reader, before it has ended.
            if (!closed && process.isAlive()) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
