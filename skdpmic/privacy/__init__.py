"""What makes a release private: sensitivities, exact noise, mechanisms."""
