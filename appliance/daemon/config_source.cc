#include "appliance/daemon/config_source.h"

namespace stoa::appliance {

Result<Config> ConfigSource::load() const {
  Config config;
  if (!file.empty()) STOA_CHECK_OK(read_config_file(file, config));
  STOA_CHECK_OK(apply_settings(settings, config));
  STOA_CHECK_OK(check_config(config));
  return config;
}

}  // namespace stoa::appliance
