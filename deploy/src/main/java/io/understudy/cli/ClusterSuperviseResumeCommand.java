package io.understudy.cli;

import io.understudy.cluster.supervise.StateClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code understudy cluster supervise resume}. */
@Command(name = "resume", description = "Resume all supervisors of the cluster.")
final class ClusterSuperviseResumeCommand implements Callable<Integer> {

    @Mixin
    private SupervisorFlag supervisor;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        spec.commandLine()
                .getOut()
                .print(new StateClient(supervisor.url(), supervisor.files(spec.commandLine())).resume());
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }
}
