package io.understudy.local.process;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A short program run to its end, its output kept in memory.
 *
 * @param line program and arguments
 * @param directory working directory, null for this JVM's
 * @param environment variables added to this JVM's own
 */
public record Command(List<String> line, @Nullable Path directory, Map<String, String> environment) {

    /** Maximum wait for the last output. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    public Command {
        line = List.copyOf(line);
        environment = Map.copyOf(environment);
    }

    public static Command of(List<String> line) {
        return new Command(line, null, Map.of());
    }

    /** Returns the argument as a word of a POSIX shell. */
    public static String quoted(Object argument) {
        String text = argument.toString();
        return text.matches("[A-Za-z0-9_@%+=:,./-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }

    public Command in(Path folder) {
        return new Command(line, folder, environment);
    }

    public Command with(String variable, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(variable, value);
        return new Command(line, directory, more);
    }

    /**
     * Runs it and waits for its end.
     *
     * @return what it printed to standard output
     * @throws CommandFailedException it could not be started, failed, or was not done in time and was killed; or it has
     *     left something running that holds its output
     */
    public String run(Duration deadline) {
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(directory == null ? null : directory.toFile())
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
        builder.environment().putAll(environment);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new CommandFailedException(line, "could not be started: " + e.getMessage(), e);
        }
        long end = System.nanoTime() + deadline.toNanos();
        CompletableFuture<String> output = reading(process.getInputStream());
        CompletableFuture<String> errors = reading(process.getErrorStream());
        try {
            if (!process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new CommandFailedException(line, "did not complete within " + deadline.toSeconds() + " s", null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailedException(line, "was interrupted", e);
        } finally {
            // Of one that has ended this would close the streams under the readers.
            if (process.isAlive()) {
                process.destroyForcibly();
            }
        }
        if (process.exitValue() != 0) {
            throw new CommandFailedException(
                    line, "ended with status " + process.exitValue() + ": " + lastPart(whole(errors, end)), null);
        }
        return whole(output, end);
    }

    /** The whole output; a background process may hold it open after the command's end. */
    private String whole(CompletableFuture<String> text, long end) {
        try {
            return text.get(Math.max(GRACE.toNanos(), end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new CommandFailedException(line, "ended, but a child process keeps its output open", e);
        } catch (ExecutionException e) {
            throw new CommandFailedException(line, "output could not be read", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailedException(line, "was interrupted", e);
        }
    }

    private static String lastPart(String text) {
        String trimmed = text.strip();
        return trimmed.length() <= 2000 ? trimmed : "… " + trimmed.substring(trimmed.length() - 2000);
    }

    private static CompletableFuture<String> reading(InputStream stream) {
        // A thread each: on a shared pool one full pipe could keep the other from being read.
        return CompletableFuture.supplyAsync(() -> read(stream), task -> {
            Thread reader = new Thread(task, "command-output");
            reader.setDaemon(true);
            reader.start();
        });
    }

    private static String read(InputStream stream) {
        try (stream) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
