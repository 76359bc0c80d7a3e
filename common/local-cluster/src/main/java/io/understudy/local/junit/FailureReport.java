package io.understudy.local.junit;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Prints a short report of each failed test. It has the message (expected, actual, seed), the failed line of the test,
 * and published entries such as the paths of server logs. Registered for every test.
 */
public final class FailureReport implements TestExecutionListener {

    private static final int MESSAGE_LINES = 24;
    private static final int LINE_LENGTH = 200;

    private final Map<String, List<String>> published = new ConcurrentHashMap<>();
    private final PrintStream out;

    public FailureReport() {
        this(System.err);
    }

    FailureReport(PrintStream out) {
        this.out = out;
    }

    @Override
    public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
        List<String> lines = published.computeIfAbsent(test.getUniqueId(), id -> new ArrayList<>());
        entry.getKeyValuePairs().forEach((key, value) -> lines.add(key + ": " + value));
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        List<String> entries = published.getOrDefault(test.getUniqueId(), List.of());
        published.remove(test.getUniqueId());
        if (result.getStatus() != TestExecutionResult.Status.FAILED) {
            return;
        }
        StringBuilder report = new StringBuilder("---- failed: " + test.getUniqueId() + "\n");
        result.getThrowable().ifPresent(failure -> {
            failure.toString().lines().limit(MESSAGE_LINES).forEach(line -> report.append("  ")
                    .append(line, 0, Math.min(line.length(), LINE_LENGTH))
                    .append('\n'));
            for (StackTraceElement frame : failure.getStackTrace()) {
                if (frame.getClassName().startsWith("io.understudy.")) {
                    report.append("  at ").append(frame).append('\n');
                    break;
                }
            }
        });
        entries.forEach(entry -> report.append("  ").append(entry).append('\n'));
        report.append("  log of the test: ").append(System.getProperty("test.log", "none"));
        out.println(report);
    }
}
