package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.status.SupervisorView;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The supervisors of a cluster. */
final class SupervisorsFlag {

    @Option(
            names = "--supervisors",
            split = ",",
            paramLabel = "URL",
            description = "Comma-separated URLs of the supervisors (default: supervisor.listen of --config).")
    private List<URI> urls = List.of();

    /** Reads the status page of each. */
    List<SupervisorView> views(ClusterConnection cluster) throws InterruptedException {
        List<SupervisorView> views = new ArrayList<>();
        for (URI url : urls.isEmpty() ? cluster.supervisor().stream().toList() : urls) {
            views.add(view(url, cluster));
        }
        return views;
    }

    private static SupervisorView view(URI url, ClusterConnection cluster) throws InterruptedException {
        try {
            String state = cluster.stateClient(url).state();
            return new SupervisorView(url, Optional.of(new JsonMapper().readTree(state)), "");
        } catch (IOException e) {
            return new SupervisorView(url, Optional.empty(), String.valueOf(e.getMessage()));
        }
    }
}
