package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.lab.LabReport;
import io.understudy.mirror.status.MirrorLine;
import io.understudy.report.TextTable;
import io.understudy.vocabulary.MemberId;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tables of commands fit 100 columns with the names and URLs of a deployment. */
final class TableWidthTest {

    private static final String MEMBER = "core-member-eu-west-1a";
    private static final String URL = "https://" + MEMBER + ".understudy.example.com:2379";

    @Test
    void aMirrorIsOneLine() {
        MirrorLine mirror = new MirrorLine(
                "disaster-recovery",
                "etcd [" + URL + ", " + URL + "]",
                "etcd [" + URL + "]",
                "resynchronizing",
                "98765432109",
                "1234567",
                "3600000",
                "12345.6",
                "1000000",
                "source unreachable: " + URL + ": no response within 5s",
                false,
                true,
                "",
                List.of(),
                List.of());

        List<String> lines = MirrorText.status(List.of(mirror));

        assertThat(lines).hasSize(5).endsWith("disaster-recovery reason: " + mirror.reason());
        assertFits(lines.subList(0, 2));
    }

    @Test
    void stepsOfAPlanFit() {
        Quorum quorum = new Quorum(3, 3);
        String action = "add " + MEMBER + " as a learner at https://" + MEMBER + ".understudy.example.com:2380";

        assertFits(ChangeText.table(
                        quorum,
                        List.of(new Planned(new Step.Remove(new MemberId(1), MEMBER), action, quorum, quorum, true)))
                .lines());
    }

    @Test
    void eventsOfASupervisorFit() throws Exception {
        List<String> lines = SuperviseCommand.lines(
                new JsonMapper().readTree("""
                {"supervisor": "a", "standing": "active", "paused": null, "cluster": {}, "decision": {}, "events": [
                  {"at": "2026-11-27T06:12:52.123Z", "rule": "automatic-promotion", "outcome": "done",
                   "observed": "2 voters of 3; NAME is 0 entries behind", "action": "promotes NAME at URL",
                   "detail": "done in 1.2 s"}]}""".replace("NAME", MEMBER).replace("URL", URL)));

        assertFits(lines.subList(lines.indexOf("") + 1, lines.size()));
    }

    @Test
    void partsOfALabFit() {
        assertFits(new LabReport(
                        Path.of("/data"),
                        List.of(new LabReport.Served(
                                MEMBER, "etcd v3 API, metrics, health and the dashboard", URL, 4711)),
                        List.of(),
                        List.of())
                .toText()
                .lines()
                .toList());
    }

    private static void assertFits(List<String> lines) {
        assertThat(lines).isNotEmpty().allMatch(line -> line.length() <= TextTable.WIDTH);
    }
}
