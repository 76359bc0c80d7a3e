package io.understudy.local.etcd;

import io.understudy.local.certificate.ServerTls;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options shared by all members of a cluster.
 *
 * @param token initial cluster token; part of the cluster id
 * @param fsync whether members write through to the disk; without, a crash of the machine loses data, one of the
 *     process does not
 * @param strictReconfiguration etcd's own check that a membership change is survivable, which also refuses every change
 *     in the first five seconds
 * @param tls for clients and between members; null for plain text
 * @param extraArguments given to each member
 */
record EtcdOptions(
        String token,
        boolean fsync,
        boolean strictReconfiguration,
        @Nullable ServerTls tls,
        List<String> extraArguments) {

    EtcdOptions {
        extraArguments = List.copyOf(extraArguments);
    }
}
