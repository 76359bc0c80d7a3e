package io.understudy.local.junit;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/**
 * Limits each wait of a test that states no limit to one minute. Awaitility's own 10 seconds are too short for etcd,
 * which alone takes up to 7 seconds to reject a write after the loss of a leader. Registered for every test.
 */
public final class WaitLimit implements TestExecutionListener {

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(1));
    }
}
