package io.understudy.local.junit;

import io.understudy.local.binary.EtcdBinaries;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/** etcd's programs, found once per JVM: verifying them takes a second each time. */
final class SessionBinaries {

    private SessionBinaries() {}

    static EtcdBinaries of(ExtensionContext context) {
        return context.getStore(StoreScope.LAUNCHER_SESSION, Namespace.create(SessionBinaries.class))
                .getOrComputeIfAbsent("etcd", key -> EtcdBinaries.find(), EtcdBinaries.class);
    }
}
