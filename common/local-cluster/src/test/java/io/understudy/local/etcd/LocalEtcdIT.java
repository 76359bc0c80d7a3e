package io.understudy.local.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.local.junit.EtcdExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LocalEtcdIT {

    @RegisterExtension
    static final EtcdExtension etcd = EtcdExtension.voters(3).learners(1);

    @Test
    void aWriteIsReadFromEveryVoterAndTheLearner() {
        etcd.cluster().etcdctl("put", "play", "hamlet");
        for (EtcdMember member : etcd.cluster().members()) {
            assertThat(etcd.cluster().etcdctl("--endpoints=" + member.clientUrl(), "get", "--consistency=s", "play"))
                    .contains("hamlet");
        }
    }
}
