package io.understudy.etcd;

import static io.understudy.etcd.Views.LEADER;
import static io.understudy.etcd.Views.endpoint;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class ViewLogTest {

    private static final Map<Endpoint, String> REFUSED =
            Map.of(endpoint(LEADER), "INTERNAL: authentication failed, invalid user ID or password");

    private final Logger logger = (Logger) LoggerFactory.getLogger(ViewLog.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final ViewLog log = new ViewLog("source");

    @BeforeEach
    void listen() {
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void letGo() {
        logger.detachAppender(logged);
    }

    @Test
    void anUnreachableMemberIsLoggedWithTheCause() {
        log.changed(leader(Health.HEALTHY), leader(Health.UNREACHABLE), REFUSED::get);

        assertThat(lines())
                .containsExactly("member health changed [cluster=\"source\", member=\"n" + LEADER + "\", id=\"" + LEADER
                        + "\", from=\"HEALTHY\", to=\"UNREACHABLE\","
                        + " cause=\"INTERNAL: authentication failed, invalid user ID or password\"]");
    }

    @Test
    void aNewUnreachableMemberIsLoggedWithTheCause() {
        log.changed(Views.of(), leader(Health.UNREACHABLE), REFUSED::get);

        assertThat(lines())
                .filteredOn(line -> line.startsWith("member found"))
                .singleElement()
                .asString()
                .contains("health=\"UNREACHABLE\"", "cause=\"INTERNAL");
    }

    @Test
    void aHealthyMemberIsLoggedWithoutACause() {
        log.changed(leader(Health.UNREACHABLE), leader(Health.HEALTHY), Map.<Endpoint, String>of()::get);

        assertThat(lines()).singleElement().asString().endsWith("from=\"UNREACHABLE\", to=\"HEALTHY\"]");
    }

    private static ClusterView leader(Health health) {
        return Views.of(Views.voter(LEADER, health));
    }

    private List<String> lines() {
        return logged.list.stream()
                .map(event -> event.getFormattedMessage() + " " + event.getKeyValuePairs())
                .toList();
    }
}
