package io.understudy.gateway.replica;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** Reports CPU time per operation, garbage collection included: steadier on a busy machine than elapsed time. */
public final class CpuTime implements InternalProfiler {

    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private long beginNanos;

    @Override
    public String getDescription() {
        return "CPU time per operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        beginNanos = system.getProcessCpuTime();
    }

    @Override
    public List<Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double micros = (system.getProcessCpuTime() - beginNanos) / 1_000.0;
        return List.of(
                new ScalarResult("cpu", micros / result.getMetadata().getAllOps(), "us/op", AggregationPolicy.AVG));
    }
}
