package io.understudy.local.junit;

import io.understudy.local.binary.EtcdBinaries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * Skips a listed test that fails, and fails a listed test that passes, so that the list only shrinks. The list is a file, {@code -Dunderstudy.known.failures}, with a line for each test: class
 * and method, the minors of etcd, the reason, separated by tabs. Registered for every test.
 */
public final class KnownFailures
        implements ExecutionCondition, TestExecutionExceptionHandler, AfterTestExecutionCallback {

    private static final String LIST = "understudy.known.failures";
    /** Begins the reason of a test that is not run, because it takes long to fail. */
    private static final String SKIPPED = "not run: ";

    private static final Pattern METHOD = Pattern.compile("\\[(method|test-template):(\\w+)\\(");

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        Optional<String> reason = reason(context);
        if (reason.isEmpty()) {
            throw failure;
        }
        System.err.println("known failure: " + context.getUniqueId() + ": " + reason.get());
        throw new TestAbortedException("known failure: " + reason.get(), failure);
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        // Of a template only some invocations may fail.
        boolean mustFail = !context.getUniqueId().contains("[test-template:");
        if (mustFail
                && context.getExecutionException().isEmpty()
                && reason(context).isPresent()) {
            throw new AssertionFailedError("passes on this version of etcd: remove it from the list of known failures");
        }
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<String> reason = reason(context).filter(text -> text.startsWith(SKIPPED));
        return reason.map(ConditionEvaluationResult::disabled)
                .orElse(ConditionEvaluationResult.enabled("no known failure"));
    }

    private static Optional<String> reason(ExtensionContext context) {
        String list = System.getProperty(LIST);
        Matcher method = METHOD.matcher(context.getUniqueId());
        if (list == null || !method.find()) {
            return Optional.empty();
        }
        String test = context.getRequiredTestClass().getSimpleName() + "." + method.group(2);
        try {
            for (String line : Files.readAllLines(Path.of(list))) {
                String[] fields = line.split("\t", 3);
                if (fields.length == 3 && fields[0].equals(test)) {
                    String minor = "3." + EtcdBinaries.find().version().minor();
                    return List.of(fields[1].split(",", -1)).contains(minor)
                            ? Optional.of(fields[2])
                            : Optional.empty();
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the list of known failures", e);
        }
    }
}
