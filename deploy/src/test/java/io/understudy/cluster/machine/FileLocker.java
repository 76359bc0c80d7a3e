package io.understudy.cluster.machine;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A process that locks a file until it is destroyed, as etcd locks its write-ahead log. */
final class FileLocker {

    private FileLocker() {}

    /** Returns the process once it has the lock. */
    static Process start(Path file) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FileLocker.class.getName(),
                        file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (process.getInputStream().read() != '+') {
            throw new IllegalStateException(file + " is not locked");
        }
        return process;
    }

    public static void main(String[] arguments) throws IOException {
        try (FileChannel file = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE);
                FileLock lock = file.lock()) {
            System.out.print(lock.isValid() ? '+' : '-');
            System.out.flush();
            int unused = System.in.read();
        }
    }
}
