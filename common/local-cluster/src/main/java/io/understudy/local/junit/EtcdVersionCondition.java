package io.understudy.local.junit;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.EtcdNotFoundException;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips all tests if the configured version of etcd is optional and not available. Optional is set by {@code
 * -Dunderstudy.etcd.optional=true}: versions other than 3.5 need Go. Registered for every test.
 */
public final class EtcdVersionCondition implements ExecutionCondition {

    private static final String OPTIONAL = "understudy.etcd.optional";

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (!Boolean.getBoolean(OPTIONAL)) {
            return ConditionEvaluationResult.enabled("etcd is required");
        }
        try {
            return ConditionEvaluationResult.enabled(
                    "etcd " + EtcdBinaries.find().version());
        } catch (EtcdNotFoundException e) {
            // Reports drop the reason when a whole class is skipped.
            System.err.println("skipped: " + e.getMessage());
            return ConditionEvaluationResult.disabled(String.valueOf(e.getMessage()));
        }
    }
}
